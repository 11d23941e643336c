// What ZmqTransport knows of its sockets and connections; for runtime/zmq/zmq_transport*.cc only.
#pragma once

#include <functional>
#include <string_view>

#include "runtime/zmq/zmq_transport.h"

namespace sterna {

namespace detail {
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
}  // namespace detail

struct ZmqTransport::Channel {
  ChannelId id = 0;
  Port* port = nullptr;
  std::string routing_id;
  PeerIdentity identity;
  std::string user;           // identity as ZAP wrote it; empty where we dialled
  std::string spelling;       // of the endpoint dialled
  Time dialled{};             // when; nothing where it was accepted
  std::string cause;          // why it is closing, or will be
  FrameBatchWriter gathered;  // sent in this turn
  bool answered = false;
  bool deaf = false;   // what still arrives is dropped
  bool muted = false;  // what still arrives is dropped, and its end is not reported
  bool closing = false;
  bool denied = false;  // the peer does not let us in
};

/// One ROUTER and what is known about its connections.
struct ZmqTransport::Port {
  Lane lane = Lane::control;
  bool dials = false;
  ZmqSocket socket;
  SocketWatch watch;
  SocketMonitor monitor;
  std::unordered_map<std::string, Channel*, detail::TextHash, std::equal_to<>> by_routing_id;
  std::unordered_map<std::string, Channel*> by_spelling;  // dialling
  std::unordered_map<int, ChannelId> by_descriptor;       // bound; 0 before the first message
  // Connections that are over, so that a late message does not introduce them anew (bounded).
  std::unordered_set<std::string, detail::TextHash, std::equal_to<>> tombstones;
  std::deque<std::string> buried;
  int failed_handshakes = 0;  // whose disconnections are still to be told
  std::vector<ChannelId> closing;
  std::vector<int> parted;  // descriptors lost before a message was read, which may lie unread
  int turns_to_drain = 0;
  // Receiving once more than there are messages costs a system call, so a turn begins with as many
  // as the last one found and doubles while there are more.
  int allowance = 1;
  int found = 0;
};

}  // namespace sterna
