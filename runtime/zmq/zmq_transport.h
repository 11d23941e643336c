// ZmqTransport: frames between real processes, over libzmq on ipc or tcp, or on tcp and, between
// the processes of one node, on ipc: a ROUTER listens at both, and a contact says who is a
// neighbour.
//
// Per lane a bound ROUTER, where peers arrive, and a dialling ROUTER, which serves any number of
// outgoing connections (a DEALER each would end at 1,023 sockets). Each lane has an I/O thread of
// its own, so a large message never delays a heartbeat. Who a peer is, is settled by CURVE or a
// token through ZAP before a message of his is read, and stamped on every frame.
//
// libzmq tells of lost connections only through a socket monitor, by the dialled endpoint or the
// descriptor. A channel that dialled is found by its endpoint's spelling; one that was accepted by
// the descriptor that its first message came over.
//
// An acceptor hears what a peer said last before it hears of its end. On ipc a dialler may not:
// libzmq drops a lost connection's unread messages by itself, so who must be heard waits for an
// answer.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/loop/uv_loop.h"
#include "runtime/transport/frame_batch.h"
#include "runtime/transport/transport.h"
#include "runtime/zmq/admissions.h"
#include "runtime/zmq/socket_monitor.h"
#include "runtime/zmq/zap_handler.h"
#include "runtime/zmq/zmq_message.h"
#include "runtime/zmq/zmq_socket.h"

namespace sterna {

struct ZmqOptions {
  enum class Kind { ipc, tcp };
  Kind kind = Kind::ipc;
  /// tcp: encrypt and authenticate with CURVE. Off (`security = "none"`), tokens are still checked
  /// but travel unencrypted.
  bool curve = true;
  std::string directory;  ///< ipc: where the sockets lie; ours alone, mode 0700
  /// tcp: who bears this number too shares `directory`, and is reached there; 0: nobody does.
  std::uint64_t neighbourhood = 0;
  std::string bind_address = "127.0.0.1";  ///< tcp: the host's address; never "*"
  std::string address = {};                ///< tcp: where others reach it; empty: the same
  int port_low = 0;                        ///< tcp: 0 for any free port
  int port_high = 0;
  std::uint64_t port_hash = 0;  ///< of run and actor: where in the range to begin
  std::array<std::int64_t, kLanes> max_frame_bytes = kMaxFrameBytes;
  /// Messages queued per connection and direction. Only a backstop: credits bound the bytes.
  int high_water_mark = 1 << 16;
  Duration connect_timeout = std::chrono::seconds(5);
  /// Half-open connections of strangers hold a descriptor each for so long where they arrive. And
  /// whom we admit waits as long for our loop, which answers ZAP, before it is turned away.
  Duration handshake_timeout = std::chrono::seconds(4);
  /// Whom we dial, and who reaches us within this host, may take so long for its part of the
  /// handshake: as long as it may be silent.
  Duration answer_timeout = std::chrono::seconds(5);
  /// Connections to hosts that say nothing any more are ended by the kernel: more patient than the
  /// links' heartbeats, which know the cause. libzmq's own heartbeats stay off: with them 4.3.4
  /// aborts the process (`!_io_error`) where a peer dies whose messages are not being read.
  Duration dead_after = std::chrono::seconds(20);
  /// Of refusals that were told of before, one line with their counts so often.
  Duration tally_every = std::chrono::minutes(1);
  /// How long unsent messages may hold up the end of the process.
  Duration linger = std::chrono::milliseconds(500);
};

class ZmqTransport final : public Transport, private Loop::Source {
 public:
  /// Opens its sockets; `loop` must outlive it.
  static Result<std::unique_ptr<ZmqTransport>> create(UvLoop& loop, PeerIdentity self,
                                                      Credentials credentials, ZmqOptions options);
  /// Waits up to `linger` for what is unsent.
  ~ZmqTransport() override;

  void set_events(Events& events) override { events_ = &events; }
  Result<void> listen(Contact& self) override;
  void admit(const Contact& peer) override;
  void announce(const Contact& next) override;
  void revoke(const PeerIdentity& peer) override;
  Result<ChannelId> dial(Lane lane, const Contact& peer) override;
  Result<void> send(ChannelId channel, std::span<const OutFrame> frames) override;
  void mute(ChannelId channel) override;
  const TransportCounters& counters() const override { return counters_; }

 private:
  struct Channel;
  struct Port;
  static constexpr int kPorts = 2 * kLanes;  // per lane: bound, dialling

  ZmqTransport(UvLoop& loop, PeerIdentity self, Credentials credentials, ZmqOptions options);
  Result<void> open();
  Result<void> open_port(Port& port);
  Result<void> bind_tcp(Lane lane, std::string& endpoint);
  Result<void> bind_ipc(Lane lane, std::string& endpoint);
  Result<void> listen_to_neighbours();
  bool is_neighbour(const Contact& peer) const;
  Contact as_let_in(const Contact& peer) const;
  Port& bound(Lane lane) { return *ports_[2 * static_cast<std::size_t>(lane)]; }
  Port& dialling(Lane lane) { return *ports_[2 * static_cast<std::size_t>(lane) + 1]; }

  // Loop::Source
  void turn() override;
  bool ready() override;
  Time next_deadline() override;

  Result<void> send_gathered(Channel& channel);
  void send_all_gathered();
  void receive(Port& port);
  int dispatch(Port& port);
  int dispatch_frame_batch(Port& port, Channel& channel);
  Channel* introduce(Port& port, const std::string& routing_id);
  void blame(Channel& channel, const char* cause);

  void drain_monitor(Port& port);
  void bound_event(Port& port, const SocketMonitor::Event& event);
  Duration patience_at(const std::string& endpoint) const;
  void dial_event(Port& port, const SocketMonitor::Event& event);
  Time dial_deadline();
  void expire_dials();

  Channel& add_channel(Port& port, std::string routing_id, PeerIdentity identity);
  Channel* find(ChannelId id);
  void close_later(Channel& channel, std::string cause);
  void report_closed(Port& port);
  void forget(Channel& channel);
  void notice(const std::string& line);
  void tally();

  UvLoop& loop_;
  PeerIdentity self_;
  Credentials credentials_;
  ZmqOptions options_;
  Events* events_ = nullptr;
  TransportCounters counters_;
  Admissions admissions_;
  std::vector<std::string> socket_files_;
  std::unordered_set<std::string> noticed_;  // lines said before; bounded
  std::uint64_t unsaid_ = 0;                 // lines that were not said again
  Time next_tally_ = kNever;

  ZmqContext context_;
  ZapHandler zap_;
  std::array<std::unique_ptr<Port>, kPorts> ports_;
  std::unordered_map<ChannelId, std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<Channel>> graveyard_;  // until the next turn: callbacks may use them
  std::deque<std::pair<Time, ChannelId>> dials_;     // unanswered, by deadline
  std::vector<ChannelId> gathered_;  // with messages that leave at the end of this turn
  ChannelId next_channel_ = 1;
  std::uint64_t next_dial_ = 1;
  ZmqMessage message_;
};

}  // namespace sterna
