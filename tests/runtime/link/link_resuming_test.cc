// Connections that are lost, and what comes over those in their place: everything, once, in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/runtime/link/linked.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LinkResuming : public LinkFixture {
 protected:
  LinkResuming() {
    options.patience = 30s;
    a = make(1, "a");
    b = make(2, "b");
  }
  /// From now on each loses every connection with the other, and makes no new one.
  void part() {
    network.set_parted("a", "b", true);
    network.cut("a", "b");
  }
  static std::vector<std::int64_t> up_to(std::int64_t end) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(end));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::unique_ptr<Linked> a;
  std::unique_ptr<Linked> b;
};

TEST_F(LinkResuming, WhatWasUnderWayComesOnceAndInOrder) {
  link(*a, *b);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a->tell(kB, i).ok());
    ASSERT_TRUE(b->tell(kA, i).ok());
    ASSERT_TRUE(a->tell_bulk(kB, 5000).ok());
  }
  network.cut("a", "b");  // nothing has come yet
  for (int i = 100; i < 200; ++i) {
    ASSERT_TRUE(a->tell(kB, i).ok());
    ASSERT_TRUE(b->tell(kA, i).ok());
  }
  pass(1s);
  EXPECT_EQ(b->amounts(), up_to(200));
  EXPECT_EQ(a->amounts(), up_to(200));
  EXPECT_EQ(b->mails.size(), 300U);
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_THAT(b->ends, IsEmpty());
  EXPECT_EQ(a->links->counters().resumed, 1U);
  EXPECT_EQ(b->links->counters().resumed, 1U);
  EXPECT_EQ(a->links->counters().sent_again, 200U);
  EXPECT_EQ(b->links->counters().sent_again, 100U);
  EXPECT_THAT(a->log, ElementsAre("b#1: link lost: the connection was cut; dialling again",
                                  "b#1: linked again after 0 ms"));
}

/// Both talk, what they say is handled at once, and the connections between them are cut at random,
/// or stand and lose or delay what comes.
TEST_F(LinkResuming, AThousandCutsLoseNothingAndRepeatNothing) {
  options.window = {3000, 20000};
  options.heartbeat = 4ms;
  options.silence = 40ms;
  std::size_t again = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom chance(seed);
    network.set_delay([&](const std::string&, const std::string&) {
      return Duration(static_cast<std::int64_t>(chance.next() % 2'000'000));
    });
    Linked left(network, random, 10 + 2 * seed, "left" + std::to_string(seed), options);
    Linked right(network, random, 11 + 2 * seed, "right" + std::to_string(seed), options);
    link(left, right);
    pass(100ms);
    std::array<std::int64_t, 2> told = {};
    std::array<std::size_t, 2> bulk = {};
    const std::array<Linked*, 2> both = {&left, &right};
    std::array<std::vector<std::int64_t>, 2> heard;
    std::array<std::size_t, 2> bulk_heard = {};
    const auto handle = [&] {
      for (std::size_t i = 0; i < 2; ++i) {
        Linked& one = *both[i];
        for (const std::int64_t amount : one.amounts()) heard[i].push_back(amount);
        for (const auto& mail : one.mails) {
          if (mail->lane == Lane::data) ++bulk_heard[i];
          one.links->consumed({both[1 - i]->contact.process}, *mail);
        }
        one.mails.clear();
      }
    };
    for (int i = 0; i < 400; ++i) {
      const std::size_t who = chance.next() % 2;
      const ProcessId to{both[1 - who]->contact.process};
      if (chance.next() % 5 == 0) {
        if (both[who]->tell_bulk(to, 1 + chance.next() % 9000).ok()) ++bulk[who];
      } else if (both[who]->tell(to, told[who]).ok()) {
        ++told[who];
      }
      const std::string& one = both[who]->contact.identity.name;
      const std::string& other = both[1 - who]->contact.identity.name;
      if (chance.next() % 8 == 0) network.cut(one, other);
      if (chance.next() % 16 == 0) network.cut_unseen(one, other);
      const Duration lasts(static_cast<std::int64_t>(chance.next() % 10'000'000));
      if (chance.next() % 32 == 0) both[who]->transport.drop(lasts);
      if (chance.next() % 32 == 0) both[who]->transport.delay(lasts / 4, lasts);
      pass(Duration(static_cast<std::int64_t>(chance.next() % 3'000'000)));
      handle();
    }
    for (int i = 0; i < 20; ++i) {
      pass(1s);
      handle();
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(heard[i], up_to(told[1 - i])) << "seed " << seed;
      EXPECT_EQ(bulk_heard[i], bulk[1 - i]) << "seed " << seed;
      EXPECT_THAT(both[i]->ends, IsEmpty()) << "seed " << seed;
      EXPECT_EQ(both[i]->links->queued_bytes(), 0U);
      again += both[i]->links->counters().sent_again;
    }
    network.set_delay(nullptr);  // it draws from this seed's
  }
  EXPECT_GT(again, 1000U);
}

/// Of its first connection, too: before the Hello, between the two lanes, before the Welcome.
TEST_F(LinkResuming, ACutAtAnyMomentOfItsBeginningLosesNothing) {
  for (std::uint64_t moment = 0; moment < 60; ++moment) {
    SeededRandom chance(moment);
    network.set_delay([&](const std::string&, const std::string&) {
      return Duration(static_cast<std::int64_t>(chance.next() % 1'000'000));
    });
    Linked left(network, random, 10 + 2 * moment, "left" + std::to_string(moment), options);
    Linked right(network, random, 11 + 2 * moment, "right" + std::to_string(moment), options);
    acquaint(left, right);
    left.links->dial(right.contact);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(left.tell({right.contact.process}, i).ok());
      ASSERT_TRUE(right.tell({left.contact.process}, i).ok());
      ASSERT_TRUE(left.tell_bulk({right.contact.process}, 100).ok());
    }
    pass(static_cast<std::int64_t>(moment) * 50us);
    const std::string& one = left.contact.identity.name;
    const std::string& other = right.contact.identity.name;
    switch (moment % 3) {
      case 0:
        network.cut(one, other);
        break;
      case 1:
        network.cut_seen_late(one, other, 300ms);
        break;
      default:
        network.cut_seen_late(other, one, 300ms);
    }
    pass(10s);
    EXPECT_EQ(right.amounts(), up_to(10)) << "moment " << moment;
    EXPECT_EQ(left.amounts(), up_to(10)) << "moment " << moment;
    EXPECT_EQ(right.mails.size(), 20U) << "moment " << moment;
    EXPECT_THAT(left.ends, IsEmpty()) << "moment " << moment;
    EXPECT_THAT(right.ends, IsEmpty()) << "moment " << moment;
    network.set_delay(nullptr);  // it draws from this moment's
  }
}

TEST_F(LinkResuming, WhoDialledDialsOnceInAHeartbeatUntilItsPatienceEnds) {
  link(*a, *b);
  part();
  ASSERT_TRUE(a->send(kB, Kind::ASK, std::make_unique<MessageMail<Add>>(Add{1})).ok());
  const Time lost = loop.now();
  const std::uint64_t disconnects = a->transport.counters().disconnects;
  loop.run_until([&] { return !a->ends.empty() && !b->ends.empty(); }, kNever);
  EXPECT_THAT(a->ends, ElementsAre("b: link lost: the connection was cut"));
  EXPECT_THAT(b->ends, ElementsAre("a: link lost: the connection was cut"));
  EXPECT_GE(loop.now() - lost, 30s);
  EXPECT_LE(loop.now() - lost, 31s);
  EXPECT_LE(a->transport.counters().disconnects - disconnects, 2U * 62U);
  EXPECT_THAT(a->failures, ElementsAre("ask actor_down: link lost: the connection was cut"));
}

TEST_F(LinkResuming, APartThatHealsInTimeIsNoEnd) {
  link(*a, *b);
  part();
  ASSERT_TRUE(a->tell(kB, 0).ok());
  pass(900ms);
  EXPECT_THAT(a->troubles, IsEmpty());
  pass(20s);
  network.set_parted("a", "b", false);
  pass(1s);
  EXPECT_THAT(b->amounts(), ElementsAre(0));
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_THAT(b->ends, IsEmpty());
  // Both tell that it lasts, and that it is over.
  const std::string lasts = "link lost: the connection was cut, ";
  EXPECT_THAT(a->troubles, ElementsAre(HasSubstr("b: " + lasts), HasSubstr(" ms, over")));
  EXPECT_THAT(b->troubles, ElementsAre(HasSubstr("a: " + lasts), HasSubstr(" ms, over")));
}

TEST_F(LinkResuming, InTheTreeNobodyIsWaitedForLongerThanTwoHeartbeats) {
  link(*a, *b);
  a->links->set_tree_peer(kB);
  part();
  const Time lost = loop.now();
  loop.run_until([&] { return !a->ends.empty(); }, kNever);
  EXPECT_LE(loop.now() - lost, 3 * options.heartbeat);
}

TEST_F(LinkResuming, InTheTreeOneOpenLaneIsAConnectionThatMayBeLost) {
  a->links->set_tree_peer(kB);
  b->links->set_tree_peer(kA);
  acquaint(*a, *b);
  int said = 0;  // the second is the Hello of the data lane
  network.set_delay([&](const std::string& from, const std::string&) {
    return Duration(from == "a" && ++said == 2 ? 300ms : 1ms);
  });
  a->links->dial(b->contact);
  pass(50ms);
  network.cut("a", "b");
  ASSERT_TRUE(a->tell(kB, 1).ok());
  pass(1s);
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_THAT(b->ends, IsEmpty());
  EXPECT_THAT(b->amounts(), ElementsAre(1));
}

TEST_F(LinkResuming, InTheTreeWhoComesBackLivesThoughItIsLostAgainAtOnce) {
  link(*a, *b);
  a->links->set_tree_peer(kB);
  b->links->set_tree_peer(kA);
  // What is under way each time does not come through.
  network.set_delay([](const std::string&, const std::string&) { return Duration{20ms}; });
  const Time began = loop.now();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(a->tell(kB, i).ok());
    network.cut("a", "b");
    const auto back = [&] {
      return std::min(a->links->counters().resumed, b->links->counters().resumed);
    };
    const std::uint64_t before = back();
    ASSERT_TRUE(loop.run_until([&] { return back() > before; }, loop.now() + 2 * options.heartbeat))
        << i;
    EXPECT_THAT(a->ends, IsEmpty());
    EXPECT_THAT(b->ends, IsEmpty());
  }
  EXPECT_LT(loop.now() - began, 10 * options.heartbeat);
  pass(1s);
  EXPECT_THAT(b->amounts(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(LinkResuming, APauseOfItsOwnIsNoneOfThePeers) {
  options.patience = 2s;
  a = make(3, "c");
  b = make(4, "d");
  link(*a, *b);
  network.cut("c", "d");
  network.set_paused("d", true);  // what is said meanwhile lies unread
  b->asleep = true;
  pass(60s);
  a.reset();  // who waited so long may have given up; the one that slept has not
  b->asleep = false;
  pass(1s);
  EXPECT_THAT(b->ends, IsEmpty());
  pass(4s);
  EXPECT_THAT(b->ends, ElementsAre(HasSubstr("c: link lost")));
}

TEST_F(LinkResuming, SilenceIsALostConnectionToo) {
  link(*a, *b);
  network.set_paused("a", true);
  network.set_paused("b", true);
  ASSERT_TRUE(a->tell(kB, 0).ok());
  pass(20s);
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_THAT(a->log, Contains("b#1: silence; dialling again"));
  network.set_paused("a", false);
  network.set_paused("b", false);
  pass(1s);
  EXPECT_THAT(b->amounts(), ElementsAre(0));
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_THAT(b->ends, IsEmpty());
}

TEST_F(LinkResuming, WhoSaysGoodbyeIsNotWaitedFor) {
  link(*a, *b);
  b->links->drop(kA, "it has had enough");
  pass(2 * options.heartbeat);  // a connection that was accepted cannot be closed
  EXPECT_THAT(a->ends, ElementsAre(HasSubstr("b: link lost: the peer ended the link")));
}

TEST_F(LinkResuming, WhoWasKilledSaysNoGoodbye) {
  link(*a, *b);
  network.silence("b");
  b.reset();
  pass(5s);
  EXPECT_THAT(a->ends, IsEmpty());
  a->links->drop(kB, "its node says so");
  pass(60s);
  EXPECT_THAT(a->ends, IsEmpty());
}

TEST_F(LinkResuming, OfAConnectionThatEndsAfterLongSilenceThePeerMayLive) {
  link(*a, *b);
  network.silence("a");
  pass(options.silence * 3 / 4);
  a.reset();
  pass(1ms);
  EXPECT_THAT(b->log, IsEmpty()) << "often who has ended is known a moment later";
  pass(2 * options.heartbeat);
  EXPECT_THAT(b->log, Contains(ContainsRegex("link lost: connection lost after .* s of silence")));
}

/// A peer that follows no rule, before a link that keeps what it sent.
class LinkResumingHostile : public LinkResuming {
 protected:
  LinkResumingHostile() {
    a->links->admit(stranger.peer.contact);
    stranger.peer.transport.admit(a->contact);
    stranger.received = {1, 1};
    stranger.dial(*a, stranger.hello());
    pass(1ms);
  }
  ~LinkResumingHostile() noexcept override = default;
  /// Dials again, on the control lane, as one that waits for that number.
  void come_again(std::uint64_t session, std::uint64_t received, std::uint64_t dial = 1) {
    Hello again = stranger.hello();
    again.session = session;
    again.resumes = true;
    again.dial = dial;
    again.received = received;
    stranger.channels[0] = stranger.peer.transport.dial(Lane::control, a->contact).value();
    stranger.say(Lane::control, again);
    pass(1ms);
  }
  static constexpr ProcessId kStranger{3};
  static constexpr LocalId kOneOfAs{5};
  Stranger stranger{network, 3, "stranger"};
};

TEST_F(LinkResumingHostile, AnotherSessionIsNotGoneOnWith) {
  ASSERT_TRUE(a->links->connected(kStranger));
  come_again(78, 1);
  EXPECT_EQ(stranger.welcomes.back().reason, "that session is over");
  EXPECT_TRUE(a->links->connected(kStranger));
}

TEST_F(LinkResumingHostile, WhoClosesALaneAndThenSaysGoodbyeHasLeftByItself) {
  stranger.peer.transport.mute(stranger.channels[Stranger::index(Lane::data)]);
  pass(1ms);
  stranger.say(Lane::control, Goodbye{});
  pass(2 * options.heartbeat);
  EXPECT_THAT(a->ends, ElementsAre(HasSubstr("stranger: link lost: the peer ended the link")));
}

TEST_F(LinkResumingHostile, AConnectionThatWasGivenUpIsNotListenedTo) {
  come_again(77, 1, 2);
  const std::size_t welcomes = stranger.welcomes.size();
  come_again(77, 1, 1);
  EXPECT_EQ(stranger.welcomes.size(), welcomes);
  EXPECT_TRUE(a->links->connected(kStranger));
  EXPECT_EQ(a->links->counters().resumed, 1U);
}

TEST_F(LinkResumingHostile, WhoComesAgainAndAgainIsNotHeardEachTime) {
  for (std::uint64_t dial = 1; dial <= 1000; ++dial) come_again(77, 1, dial);
  EXPECT_LT(a->links->counters().resumed, 100U);
  EXPECT_THAT(a->ends, IsEmpty());
  pass(options.heartbeat);
  come_again(77, 1, 1001);
  EXPECT_TRUE(a->links->connected(kStranger));
}

TEST_F(LinkResumingHostile, WhatAPeerMissesItDialsAgainFor) {
  stranger.next[0] = 2;
  stranger.say(Lane::control, Add{1}, kOneOfAs);
  pass(1ms);
  EXPECT_EQ(stranger.redials, 1U);
  EXPECT_THAT(a->ends, IsEmpty());
  come_again(77, 1);
  stranger.next[0] = 1;
  stranger.say(Lane::control, Add{1}, kOneOfAs);
  pass(1ms);
  EXPECT_THAT(a->amounts(), ElementsAre(1));
  pass(2 * options.heartbeat);  // its other lane is still lost
  EXPECT_THAT(a->log, Contains("stranger#1: link lost: message 2 came where 1 was due; it may dial "
                               "again"));
}

TEST_F(LinkResumingHostile, WhoAlwaysLeavesOneOutIsGivenUp) {
  std::uint64_t dial = 0;
  while (a->ends.empty() && dial < 1000) {
    stranger.next[0] = 2;
    stranger.say(Lane::control, Add{1}, kOneOfAs);
    pass(options.heartbeat / 4);
    if (a->ends.empty()) come_again(77, 1, ++dial);
  }
  EXPECT_EQ(dial, 8U);
  EXPECT_THAT(a->ends, ElementsAre("stranger: link lost: message 2 came where 1 was due"));
}

TEST_F(LinkResumingHostile, WhoDialledDialsAgainByItself) {
  stranger.say(Lane::control, Redial{});
  pass(1ms);
  EXPECT_THAT(a->ends, ElementsAre("stranger: it dialled, and wants us to dial again (fault)"));
}

TEST_F(LinkResumingHostile, WatchingGoesWithControl) {
  stranger.say(Lane::data, Watch{kOneOfAs});
  pass(1ms);
  EXPECT_THAT(a->watched, IsEmpty());
  EXPECT_THAT(a->ends, ElementsAre("stranger: it watches on the data lane (fault)"));
}

TEST_F(LinkResumingHostile, NobodyHasReceivedWhatWasNeverSent) {
  come_again(77, 2);
  EXPECT_THAT(a->ends, ElementsAre("stranger: it has received what was never sent (fault)"));
}

TEST_F(LinkResumingHostile, WhatAMessageSaysOfThatIsItsOwnConcern) {
  ASSERT_TRUE(a->tell(kStranger, 1).ok());
  stranger.received = {9, 9};
  stranger.say(Lane::control, Add{1}, kOneOfAs);
  pass(1ms);
  EXPECT_THAT(a->ends, IsEmpty());
  come_again(77, 1);
  EXPECT_EQ(a->links->counters().sent_again, 1U);
}

TEST_F(LinkResumingHostile, WhatCostsEachConnectionThatItIsSentOnIsNotTriedForEver) {
  ASSERT_TRUE(a->tell(kStranger, 1).ok());  // which it never says that it has
  std::uint64_t dial = 0;
  while (a->ends.empty() && dial < 1000) {
    network.cut("a", "stranger");
    come_again(77, 1, ++dial);
    pass(options.heartbeat);
  }
  EXPECT_GE(dial, 50U);
  EXPECT_LE(dial, 70U);
  EXPECT_THAT(a->ends, ElementsAre("stranger: link lost: the connection was cut"));
}

TEST_F(LinkResumingHostile, NobodyGoesBackBehindWhatItHad) {
  ASSERT_TRUE(a->tell(kStranger, 1).ok());
  stranger.received = {2, 1};
  stranger.say(Lane::control, Heartbeat{.credit = {1 << 20, 1 << 20}});
  pass(1ms);
  come_again(77, 1);
  EXPECT_THAT(a->ends, ElementsAre("stranger: it has received what was never sent (fault)"));
}

TEST_F(LinkResumingHostile, WhoTakesAndNeverSaysSoIsGivenUp) {
  for (std::uint64_t megabytes = 1; a->ends.empty() && megabytes < 4000; megabytes += 8) {
    (void)a->tell_bulk(kStranger, 8U << 20).ok();
    stranger.say(Lane::control, Heartbeat{.credit = {1 << 20, megabytes << 21}});
    pass(1ms);
  }
  EXPECT_THAT(a->ends, ElementsAre(HasSubstr("it takes messages and never says")));
}

}  // namespace
}  // namespace sterna::test
