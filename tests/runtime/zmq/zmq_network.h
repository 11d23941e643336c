// A network of ZmqTransports in one program, for their tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/zmq/curve_keys.h"
#include "runtime/zmq/zmq_transport.h"
#include "tests/temporary_folder.h"

namespace sterna::zmq_test {

inline ByteView bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A process's end of the network: its transport, and what it was told.
struct Peer final : Transport::Events {
  struct Received {
    ChannelId channel;
    Lane lane;
    std::string from;
    std::vector<std::string> frames;
  };

  void received(ChannelId channel, Lane lane, const PeerIdentity& from,
                InMessage& message) override {
    ++messages;
    if (on_received) {
      on_received(channel, message);
      return;
    }
    Received entry{channel, lane, from.text(), {}};
    for (std::size_t i = 0; i < message.frames(); ++i) {
      entry.frames.emplace_back(text_of(message.frame(i)));
    }
    inbox.push_back(std::move(entry));
  }
  void closed(ChannelId channel, std::string_view cause, bool) override {
    ends[channel] = std::string(cause);
  }
  void noticed(std::string_view line) override { notices.emplace_back(line); }

  ChannelId dial(const Peer& to, Lane lane = Lane::control) {
    return transport->dial(lane, to.contact).value();
  }
  bool send(ChannelId channel, std::string_view text) {
    const OutFrame frame{bytes_of(text), nullptr};
    return transport->send(channel, {&frame, 1}).ok();
  }

  Contact contact;
  Credentials credentials;
  std::unique_ptr<ZmqTransport> transport;
  std::function<void(ChannelId, InMessage&)> on_received;
  std::size_t messages = 0;
  std::vector<Received> inbox;
  std::map<ChannelId, std::string> ends;
  std::vector<std::string> notices;
};

class Network : public testing::Test {
 protected:
  Network() {
    options.directory = folder.path();
    options.linger = std::chrono::milliseconds(100);
  }
  std::unique_ptr<Peer> make(const std::string& name, std::uint64_t incarnation = 1,
                             bool listen = true) {
    auto peer = std::make_unique<Peer>();
    peer->credentials = make_credentials();
    peer->contact.identity = {name, incarnation};
    peer->contact.public_key = peer->credentials.public_key;
    peer->contact.token_hash = token_hash(peer->credentials.token);
    peer->contact.neighbourhood = options.neighbourhood;
    open(*peer, peer->credentials, listen);
    return peer;
  }
  void open(Peer& peer, const Credentials& credentials, bool listen) {
    auto transport = ZmqTransport::create(loop, peer.contact.identity, credentials, options);
    ASSERT_TRUE(transport) << transport.error().message;
    peer.transport = std::move(*transport);
    peer.transport->set_events(peer);
    if (listen) {
      const auto listening = peer.transport->listen(peer.contact);
      ASSERT_TRUE(listening) << listening.error().message;
    }
  }
  bool until(const std::function<bool()>& done, Duration limit = std::chrono::seconds(10)) {
    return loop.run_until(done, loop.now() + limit);
  }

  UvLoop loop;
  TemporaryFolder folder;
  ZmqOptions options;
};

/// For what holds whatever carries the frames.
class OverAnyCarrier : public Network, public testing::WithParamInterface<std::string> {
 protected:
  OverAnyCarrier() {
    options.kind = GetParam() == "ipc" ? ZmqOptions::Kind::ipc : ZmqOptions::Kind::tcp;
    options.curve = GetParam() != "plain_tcp";
    if (GetParam() == "neighbours") options.neighbourhood = 5;
  }
};
const auto kCarriers = testing::Values("ipc", "curve", "plain_tcp", "neighbours");
inline std::string carrier_name(const testing::TestParamInfo<std::string>& kind) {
  return kind.param;
}

}  // namespace sterna::zmq_test
