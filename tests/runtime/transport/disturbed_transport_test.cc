// A network that is made a bad one: what comes late, in which order, and what does not come.
#include "runtime/transport/disturbed_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/sim/memory_peer.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class DisturbedTransports : public testing::Test, private Transport::Events {
 protected:
  DisturbedTransports() {
    transport.set_events(*this);
    EXPECT_TRUE(transport.listen(contact).ok());
    transport.admit(peer.contact);
    channel = peer.transport.dial(Lane::data, contact).value();
    say("hello");
    pass(10ms);
    heard.clear();
  }
  void say(std::string_view text) { EXPECT_TRUE(peer.say(channel, text)); }
  void pass(Duration duration) {
    loop.after(duration, [] {});  // time does not pass for nothing
    loop.run_until([] { return false; }, loop.now() + duration);
  }
  void received(ChannelId on, Lane, const PeerIdentity&, InMessage& message) override {
    mine = on;
    heard.emplace_back(text_of(message.frame(0)));
    if (mute_at_once) transport.mute(on);
  }
  void closed(ChannelId, std::string_view, bool) override { heard.emplace_back("closed"); }
  void noticed(std::string_view) override {}

  static constexpr std::size_t kMostHeld = 1000;
  SimLoop loop;
  MemoryNetwork network{loop};
  MemoryPeer peer{network, 1, "peer"};
  Contact contact{2, {"self", 1}, "", "", "key-self", ""};
  DisturbedTransport transport{
      std::make_unique<MemoryTransport>(network, contact.identity, Credentials{"key-self", "", ""}),
      loop, kMostHeld};
  ChannelId channel = 0;
  ChannelId mine = 0;
  bool mute_at_once = false;
  std::vector<std::string> heard;
};

TEST_F(DisturbedTransports, ADelayHoldsBackWhatComesAndKeepsItsOrder) {
  transport.delay(200ms, 1s);
  say("a");
  pass(100ms);
  say("b");
  pass(90ms);
  EXPECT_THAT(heard, IsEmpty());
  pass(20ms);
  EXPECT_THAT(heard, ElementsAre("a"));
  pass(100ms);
  EXPECT_THAT(heard, ElementsAre("a", "b"));
}

TEST_F(DisturbedTransports, WhatComesAfterADelayDoesNotOvertakeWhatItHolds) {
  transport.delay(200ms, 10ms);
  say("a");
  pass(50ms);
  say("b");
  pass(100ms);
  EXPECT_THAT(heard, IsEmpty());
  pass(60ms);
  EXPECT_THAT(heard, ElementsAre("a", "b"));
  say("c");
  pass(2ms);
  EXPECT_THAT(heard, ElementsAre("a", "b", "c"));
}

TEST_F(DisturbedTransports, AShorterDelayDoesNotOvertakeALongerOne) {
  transport.delay(200ms, 1s);
  say("a");
  pass(10ms);
  transport.delay(1ms, 1s);
  say("b");
  pass(100ms);
  EXPECT_THAT(heard, IsEmpty());
  pass(100ms);
  EXPECT_THAT(heard, ElementsAre("a", "b"));
}

TEST_F(DisturbedTransports, AnEndComesBehindWhatWasSaidBefore) {
  transport.delay(200ms, 1s);
  say("a");
  pass(10ms);
  network.cut("peer", "self");
  pass(100ms);
  EXPECT_THAT(heard, IsEmpty());
  pass(200ms);
  EXPECT_THAT(heard, ElementsAre("a", "closed"));
}

TEST_F(DisturbedTransports, NothingIsHeardFromWhomItMutes) {
  transport.delay(200ms, 1s);
  say("a");
  say("b");
  mute_at_once = true;
  pass(1s);
  EXPECT_THAT(heard, ElementsAre("a"));
}

TEST_F(DisturbedTransports, NorFromWhomItRevokes) {
  transport.delay(200ms, 1s);
  say("a");
  pass(10ms);
  transport.revoke(peer.contact.identity);
  pass(1s);
  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(DisturbedTransports, WhatIsDroppedNeverComesAndWhatComesAfterDoes) {
  transport.drop(100ms);
  say("a");
  pass(50ms);
  say("b");
  pass(60ms);
  say("c");
  pass(10ms);
  EXPECT_THAT(heard, ElementsAre("c"));
  EXPECT_EQ(transport.dropped(), 2U);
}

TEST_F(DisturbedTransports, WhatItSaysItselfIsNotDisturbed) {
  say("hello");
  pass(10ms);
  transport.drop(1s);
  transport.delay(1s, 1s);
  const OutFrame frame{std::as_bytes(std::span(std::string_view("answer"))), nullptr};
  ASSERT_TRUE(transport.send(mine, {&frame, 1}).ok());
  pass(10ms);
  EXPECT_THAT(peer.heard, ElementsAre("self#1: answer"));
}

TEST_F(DisturbedTransports, WhatIsHeldIsBounded) {
  transport.delay(1s, 10s);
  const std::string text(400, 'x');
  for (int i = 0; i < 5; ++i) say(text);
  pass(500ms);
  EXPECT_EQ(transport.dropped(), 2U);
  pass(1s);
  EXPECT_THAT(heard, ElementsAre(text, text, text));
  say("and more");
  pass(2s);
  EXPECT_EQ(heard.size(), 4U);
}

}  // namespace
}  // namespace sterna::test
