// Links: opened, ended, and looked at.
#include "runtime/link/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/link/linked.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class LinkTest : public LinkFixture {
 protected:
  std::unique_ptr<Linked> a = make(1, "a");
  std::unique_ptr<Linked> b = make(2, "b");
};

TEST_F(LinkTest, ADialOpensItForBothEnds) {
  EXPECT_FALSE(a->links->connected(kB));
  link(*a, *b);
  EXPECT_TRUE(a->links->connected(kB));
  EXPECT_TRUE(b->links->connected(kA));
  EXPECT_EQ(b->links->identity_of(kA)->text(), "a#1");
  EXPECT_EQ(b->links->identity_of({99}), nullptr);
}

TEST_F(LinkTest, DiallingOneThatIsOpenChangesNothing) {
  link(*a, *b);
  a->links->dial(b->contact);
  pass(1s);
  EXPECT_EQ(a->links->open_links(), 1U);
  EXPECT_THAT(b->ends, IsEmpty());
}

TEST_F(LinkTest, WhoCannotBeReachedIsAnErrorForThoseWhoAsk) {
  ASSERT_TRUE(a->tell(kB, 1).ok());
  ASSERT_TRUE(a->send(kB, Kind::ASK, std::make_unique<MessageMail<Add>>(Add{2})).ok());
  a->links->unreachable(kB, "nobody knows it");
  EXPECT_THAT(a->failures, ElementsAre("ask actor_down: nobody knows it"));
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkTest, NobodyIsUnreachableWhoIsConnected) {
  link(*a, *b);
  a->links->unreachable(kB, "a late answer");
  EXPECT_TRUE(a->links->connected(kB));
}

TEST_F(LinkTest, WhoIsDroppedIsForgottenWithoutAWord) {
  link(*a, *b);
  a->links->drop(kB, "its node says so");
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_EQ(a->links->identity_of(kB), nullptr);
  b->links->drop(kA, "likewise");
  b->links->dial(a->contact);
  pass(1s);
  EXPECT_THAT(b->ends, ElementsAre("a: link lost: denied"));
}

TEST_F(LinkTest, WhoWasAnnouncedTakesThePlaceOfTheOneBefore) {
  link(*a, *b);
  auto next = std::make_unique<Linked>(network, random, 1, "a", options, nullptr, 2);
  b->links->announce(next->contact);
  pass(1s);
  EXPECT_TRUE(b->links->connected(kA)) << "to be announced is not to come";
  next->links->dial(b->contact);
  pass(1s);
  EXPECT_TRUE(next->links->connected(kB));
  EXPECT_EQ(b->links->identity_of(kA)->text(), "a#2");
  EXPECT_THAT(b->ends, ElementsAre("a: link lost: the peer opened a new session"));
  // Of the two only the higher one is anybody now.
  a->links->drop(kB, "it dials again");
  a->links->dial(b->contact);
  pass(1s);
  EXPECT_FALSE(a->links->connected(kB));
}

TEST_F(LinkTest, WhoIsBlamedIsMutedCountedAndReported) {
  link(*a, *b);
  a->links->blame(kB, "it broke a rule");
  EXPECT_THAT(a->ends, ElementsAre("b: it broke a rule (fault)"));
  EXPECT_THAT(a->log, ElementsAre("b#1 is muted: it broke a rule"));
  EXPECT_EQ(a->links->counters().faults, 1U);
  EXPECT_TRUE(b->tell(kA, 1).ok());
  pass(1s);
  EXPECT_THAT(a->amounts(), IsEmpty());
}

TEST_F(LinkTest, ACutIsALinkLostAndTheNextMessageAsksForAnother) {
  link(*a, *b);
  network.cut("a", "b");
  EXPECT_THAT(a->ends, ElementsAre("b: link lost: the connection was cut"));
  ASSERT_TRUE(a->tell(kB, 1).ok());
  EXPECT_THAT(a->introductions, ElementsAre(kB));
}

TEST_F(LinkTest, ASilentPeerIsGivenHalfAsMuchAgainAsOneInTheTree) {
  options.silence = 4s;
  auto tree = make(3, "tree");
  tree->links->set_tree_peer(kB);
  link(*a, *b);
  link(*tree, *b);
  network.set_paused("a", true);
  network.set_paused("tree", true);
  const Time fell_silent = loop.now();
  loop.run_until([&] { return !tree->ends.empty(); }, kNever);
  EXPECT_LE(loop.now() - fell_silent, 4s + 3 * options.heartbeat);
  EXPECT_THAT(tree->ends, ElementsAre("b: silence"));
  EXPECT_THAT(a->ends, IsEmpty());
  loop.run_until([&] { return !a->ends.empty(); }, kNever);
  EXPECT_GE(loop.now() - fell_silent, 6s - options.heartbeat);
  EXPECT_THAT(a->ends, ElementsAre("b: silence"));
}

TEST_F(LinkTest, NoAnswerAtAllIsSaidAsSuch) {
  acquaint(*a, *b);
  network.set_paused("b", true);
  a->links->dial(b->contact);
  pass(10s);
  EXPECT_THAT(a->ends, ElementsAre("b: no answer to our connection"));
}

TEST_F(LinkTest, AfterAPauseOfItsOwnItHearsOthersOutFirst) {
  link(*a, *b);
  a->asleep = true;
  network.set_paused("a", true);  // what was said meanwhile lies unread
  pass(60s);
  a->asleep = false;
  pass(2s);
  EXPECT_THAT(a->ends, IsEmpty());
}

TEST_F(LinkTest, AHeartbeatSaysHowItsSenderIs) {
  link(*a, *b);
  EXPECT_EQ(a->links->last_words(kB), nullptr);
  pass(1s);
  const LinkStatistics* words = a->links->last_words(kB);
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->queued_bytes, 1U);
  EXPECT_EQ(words->actors, 4U);
}

TEST_F(LinkTest, WatchesAndDeathsAreTold) {
  link(*a, *b);
  a->links->send_watch(kB, {5});
  b->links->send_down(kA, {{kB, {5}}, "b", 1, "it stopped"});
  pass(1ms);
  EXPECT_THAT(b->watched, ElementsAre(LocalId{5}));
  ASSERT_EQ(a->downs.size(), 1U);
  EXPECT_EQ(a->downs[0].cause, "it stopped");
}

}  // namespace
}  // namespace sterna::test
