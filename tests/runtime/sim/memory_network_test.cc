#include "runtime/sim/memory_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/transport/message_limits.h"
#include "tests/runtime/sim/memory_peer.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class MemoryNetworks : public testing::Test {
 protected:
  void pass(Duration time) {
    loop.run_until([] { return false; }, loop.now() + time);
  }
  SimLoop loop;
  MemoryNetwork network{loop};
  MemoryPeer server{network, 1, "server"};
  MemoryPeer worker{network, 2, "worker"};
};

TEST_F(MemoryNetworks, MessagesOfAChannelKeepTheirOrderWhateverTheirDelays) {
  server.transport.admit(worker.contact);
  network.set_delay([delay = Duration{10ms}](const std::string&, const std::string&) mutable {
    return delay -= 1ms;  // asked until the last peer is gone, thus after this frame
  });
  const ChannelId channel = worker.dial(server);
  for (const char* text : {"one", "two", "three"}) EXPECT_TRUE(worker.say(channel, text));
  pass(1s);
  EXPECT_THAT(server.heard, ElementsAre("worker#1: one", "worker#1: two", "worker#1: three"));
}

TEST_F(MemoryNetworks, WhatTheRealTransportDoesNotCarryIsRefusedHereToo) {
  server.transport.admit(worker.contact);
  const ChannelId control = worker.dial(server);
  const ChannelId data = worker.dial(server, Lane::data);
  const std::string long_one(5U << 20, 'x');
  EXPECT_FALSE(worker.say(control, long_one));
  EXPECT_TRUE(worker.say(data, long_one));
  const std::vector<OutFrame> many(kMostFrames + 1, {std::as_bytes(std::span("x")), nullptr});
  EXPECT_EQ(worker.transport.send(control, many).error().code, Errc::invalid_argument);
  EXPECT_EQ(worker.transport.send(control, {}).error().code, Errc::invalid_argument);
  pass(1s);
  EXPECT_EQ(server.heard.size(), 1U);
}

TEST_F(MemoryNetworks, AnAnswerGoesBackOverTheSameChannel) {
  server.transport.admit(worker.contact);
  const ChannelId channel = worker.dial(server);
  worker.say(channel, "hello");
  pass(1s);
  server.say(server.last_channel, "welcome");
  pass(1s);
  EXPECT_THAT(worker.heard, ElementsAre("server#1: welcome"));
  EXPECT_EQ(worker.last_channel, channel);
}

TEST_F(MemoryNetworks, WhoIsNotAdmittedUnderItsOwnKeyIsDenied) {
  Contact impostor = worker.contact;
  impostor.public_key = "another key";
  server.transport.admit(impostor);
  const ChannelId channel = worker.dial(server);
  pass(1s);
  EXPECT_EQ(worker.ends[channel], "denied");
  EXPECT_THAT(server.notices, ElementsAre(HasSubstr("worker#1 was denied")));
  EXPECT_EQ(server.transport.counters().authentication_denials, 1U);
}

TEST_F(MemoryNetworks, WhereNobodyListensTheChannelCloses) {
  Contact nobody = server.contact;
  nobody.control_endpoint = "memory://nobody";
  const ChannelId channel = worker.transport.dial(Lane::control, nobody).value();
  pass(1s);
  EXPECT_THAT(worker.ends[channel], HasSubstr("nobody listens"));
  EXPECT_FALSE(worker.say(channel, "hello?"));
}

TEST_F(MemoryNetworks, ACutEndsTheConnectionAtBothEndsAndANewOneMayBeMade) {
  server.transport.admit(worker.contact);
  const ChannelId channel = worker.dial(server);
  worker.say(channel, "hello");
  pass(1s);
  network.cut("server", "worker");
  EXPECT_EQ(worker.ends.size(), 1U);
  EXPECT_EQ(server.ends.size(), 1U);
  worker.say(worker.dial(server), "again");
  pass(1s);
  EXPECT_EQ(server.heard.back(), "worker#1: again");
}

TEST_F(MemoryNetworks, WhatArrivesForOneThatIsPausedWaits) {
  server.transport.admit(worker.contact);
  const ChannelId channel = worker.dial(server);
  pass(1s);
  network.set_paused("server", true);
  worker.say(channel, "one");
  worker.say(channel, "two");
  pass(60s);
  EXPECT_TRUE(server.heard.empty());
  network.set_paused("server", false);
  EXPECT_THAT(server.heard, ElementsAre("worker#1: one", "worker#1: two"));
}

TEST_F(MemoryNetworks, ThatAConnectionIsGoneWaitsBehindWhatCameBefore) {
  server.transport.admit(worker.contact);
  const ChannelId channel = worker.dial(server);
  worker.say(channel, "one");
  pass(1s);
  network.set_paused("server", true);
  worker.say(channel, "two");
  pass(1s);
  network.cut("server", "worker");
  EXPECT_TRUE(server.ends.empty());
  network.set_paused("server", false);
  EXPECT_THAT(server.heard, ElementsAre("worker#1: one", "worker#1: two"));
  EXPECT_EQ(server.ends.size(), 1U);
}

TEST_F(MemoryNetworks, WhatIsStalledOneWayComesAfterwardsInOrder) {
  server.transport.admit(worker.contact);
  const ChannelId channel = worker.dial(server);
  worker.say(channel, "hello");
  pass(1s);
  network.set_stalled("worker", "server", true);
  worker.say(channel, "one");
  worker.say(channel, "two");
  server.say(server.last_channel, "the other way");
  worker.say(worker.dial(server), "over a new connection");
  pass(60s);
  EXPECT_THAT(server.heard, ElementsAre("worker#1: hello"));
  EXPECT_THAT(worker.heard, ElementsAre("server#1: the other way"));
  network.set_stalled("worker", "server", false);
  worker.say(channel, "three");
  pass(1s);
  EXPECT_EQ(server.heard.size(), 5U);
  EXPECT_EQ(server.heard[1], "worker#1: one");
}

TEST_F(MemoryNetworks, NothingComesToAHostThatIsCutOffOrFromIt) {
  MemoryPeer near(network, 3, "near");
  for (MemoryPeer* peer : {&server, &near}) {
    peer->transport.admit(worker.contact);
    network.place(peer->contact.identity, "h0");
  }
  const ChannelId far_away = worker.dial(server);
  worker.say(far_away, "hello");
  near.transport.admit(server.contact);
  const ChannelId close_by = server.dial(near);
  pass(1s);
  const ChannelId back = server.last_channel;
  struct Way {
    bool deaf, mute;
    std::size_t heard_there, heard_elsewhere;
  };
  for (const Way way : {Way{true, true, 0, 0}, Way{true, false, 0, 1}, Way{false, true, 1, 0}}) {
    server.heard.clear();
    worker.heard.clear();
    near.heard.clear();
    network.set_isolated("h0", way.deaf, way.mute);
    EXPECT_TRUE(network.apart(server.contact.identity, worker.contact.identity));
    EXPECT_FALSE(network.apart(server.contact.identity, near.contact.identity));
    const ChannelId new_one = worker.dial(server);
    worker.say(far_away, "to it");
    server.say(back, "from it");
    server.say(close_by, "on it");
    pass(3s);
    EXPECT_EQ(server.heard.size(), way.heard_there);
    EXPECT_EQ(worker.heard.size(), way.heard_elsewhere);
    EXPECT_EQ(near.heard.size(), 1U);
    worker.say(new_one, "over a new connection");
    network.set_isolated("h0", false, false);
    pass(1s);
    EXPECT_EQ(server.heard.size(), 2U) << "what was said comes afterwards";
    EXPECT_EQ(worker.heard.size(), 1U);
  }
}

TEST_F(MemoryNetworks, ThatAConnectionIsGoneIsHeardOnceItsHostIsReached) {
  server.transport.admit(worker.contact);
  ChannelId channel = 0;
  {
    MemoryPeer brief(network, 3, "brief");
    network.place(brief.contact.identity, "h0");
    server.transport.admit(brief.contact);
    brief.transport.admit(server.contact);
    channel = server.dial(brief);
    pass(1s);
    network.set_isolated("h0", true, true);
  }
  pass(60s);
  EXPECT_FALSE(server.ends.contains(channel));
  network.set_isolated("h0", false, false);
  pass(1s);
  EXPECT_EQ(server.ends[channel], kConnectionLost);
}

TEST_F(MemoryNetworks, WhatIsSentIsHeardOfAsItLeaves) {
  server.transport.admit(worker.contact);
  std::vector<std::string> sent;
  network.set_on_message(
      [&](const std::string& from, const std::string& to, const std::vector<Bytes>& frames) {
        sent.push_back(from + " to " + to + ": " + std::string(text_of(frames[0].view())));
      });
  worker.say(worker.dial(server), "hello");
  EXPECT_THAT(sent, ElementsAre("worker to server: hello"));
}

TEST_F(MemoryNetworks, MutedAndRevokedPeersAreNotHeard) {
  server.transport.admit(worker.contact);
  const ChannelId first = worker.dial(server);
  worker.say(first, "hello");
  pass(1s);
  server.transport.mute(server.last_channel);
  worker.say(first, "muted");
  const ChannelId second = worker.dial(server);
  worker.say(second, "hello again");
  pass(1s);
  server.transport.revoke(worker.contact.identity);
  worker.say(second, "revoked");
  const ChannelId third = worker.dial(server);
  pass(1s);
  EXPECT_EQ(server.heard.size(), 2U);
  EXPECT_EQ(server.transport.counters().muted_messages, 2U);
  EXPECT_EQ(worker.ends[third], "denied");
}

TEST_F(MemoryNetworks, TheEndOfOneIsHeardByTheOther) {
  server.transport.admit(worker.contact);
  ChannelId channel = 0;
  {
    MemoryPeer brief(network, 3, "brief");
    server.transport.admit(brief.contact);
    brief.transport.admit(server.contact);
    channel = server.dial(brief);
    server.say(channel, "hello");
    pass(1s);
    EXPECT_EQ(brief.heard.size(), 1U);
  }
  pass(1s);
  EXPECT_EQ(server.ends[channel], kConnectionLost);
}

TEST_F(MemoryNetworks, TwoOfOneIdentityCannotListen) {
  MemoryTransport twin(network, worker.contact.identity, {});
  Contact contact;
  EXPECT_EQ(twin.listen(contact).error().code, Errc::already_exists);
}

}  // namespace
}  // namespace sterna::test
