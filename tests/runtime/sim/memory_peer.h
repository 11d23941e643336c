// A process's bare end of a MemoryNetwork: its transport, and what it was told.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/sim/memory_network.h"

namespace sterna::test {

struct MemoryPeer final : Transport::Events {
  MemoryPeer(MemoryNetwork& network, std::uint64_t process, const std::string& name)
      : contact{process, {name, 1}, "", "", "key-" + name, ""},
        transport(network, contact.identity, {"key-" + name, "", ""}) {
    EXPECT_TRUE(transport.listen(contact).ok());
    transport.set_events(*this);
  }
  ChannelId dial(const MemoryPeer& to, Lane lane = Lane::control) {
    return transport.dial(lane, to.contact).value();
  }
  bool say(ChannelId channel, std::string_view text) {
    const OutFrame frame{std::as_bytes(std::span(text)), nullptr};
    return transport.send(channel, {&frame, 1}).ok();
  }
  void received(ChannelId channel, Lane lane, const PeerIdentity& from,
                InMessage& message) override {
    last_channel = channel;
    if (on_received) {
      on_received(channel, lane, message);
    } else {
      heard.push_back(from.text() + ": " + std::string(text_of(message.frame(0))));
    }
  }
  void closed(ChannelId channel, std::string_view cause, bool) override { ends[channel] = cause; }
  void noticed(std::string_view line) override { notices.emplace_back(line); }

  Contact contact;
  MemoryTransport transport;
  std::function<void(ChannelId, Lane, InMessage&)> on_received;
  ChannelId last_channel = 0;
  std::vector<std::string> heard;
  std::map<ChannelId, std::string> ends;
  std::vector<std::string> notices;
};

}  // namespace sterna::test
