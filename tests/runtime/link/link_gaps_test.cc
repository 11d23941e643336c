// Messages that do not come over connections that stand: missed, and sent again on others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/runtime/link/linked.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LinkGaps : public LinkFixture {
 protected:
  LinkGaps() {
    options.patience = 30s;
    a = make(1, "a");
    b = make(2, "b");
  }
  /// So many numbers, from 0, to each other.
  void both_tell(int from, int to) {
    for (int i = from; i < to; ++i) {
      ASSERT_TRUE(a->tell(kB, i).ok());
      ASSERT_TRUE(b->tell(kA, i).ok());
    }
  }
  void expect_all(int end) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(end));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(a->amounts(), all);
    EXPECT_EQ(b->amounts(), all);
    EXPECT_THAT(a->ends, IsEmpty());
    EXPECT_THAT(b->ends, IsEmpty());
  }
  std::unique_ptr<Linked> a;
  std::unique_ptr<Linked> b;
};

TEST_F(LinkGaps, WhatWhoDialledDoesNotGetComesOnceAndInOrder) {
  link(*a, *b);
  a->transport.drop(300ms);
  both_tell(0, 50);
  pass(300ms);
  EXPECT_THAT(a->amounts(), IsEmpty());
  both_tell(50, 100);
  pass(200ms);
  expect_all(100);
  EXPECT_EQ(a->links->counters().sequence_gaps, 1U);
  EXPECT_EQ(a->links->counters().resumed, 1U);
  EXPECT_THAT(a->log, ElementsAre("b#1: link lost: message 51 came where 1 was due; dialling again",
                                  HasSubstr("b#1: linked again after ")));
}

TEST_F(LinkGaps, WhatWhoAcceptedDoesNotGetComesOnceAndInOrder) {
  link(*a, *b);
  b->transport.drop(300ms);
  both_tell(0, 50);
  pass(300ms);
  EXPECT_THAT(b->amounts(), IsEmpty());
  both_tell(50, 100);
  pass(200ms);
  expect_all(100);
  EXPECT_EQ(b->links->counters().sequence_gaps, 1U);
  EXPECT_THAT(a->log, Contains("b#1: link lost: the peer misses a message; dialling again"));
}

/// Nothing comes behind it that would show the gap but what is said for that.
TEST_F(LinkGaps, TheLastMessageOfALaneIsMissedToo) {
  link(*a, *b);
  b->transport.drop(10ms);
  ASSERT_TRUE(a->tell_bulk(kB, 1000).ok());
  pass(3 * options.heartbeat);
  EXPECT_EQ(b->mails.size(), 1U);
  b->mails.clear();
  a->transport.drop(10ms);
  ASSERT_TRUE(b->tell(kA, 7).ok());
  pass(3 * options.heartbeat);
  EXPECT_THAT(a->amounts(), ElementsAre(7));
}

TEST_F(LinkGaps, WhereAllHasComeNothingIsSaidForIt) {
  link(*a, *b);
  ASSERT_TRUE(a->tell_bulk(kB, 1000).ok());
  pass(2 * options.heartbeat);
  const std::uint64_t before = a->links->counters().bytes_out[1];
  pass(10 * options.heartbeat);
  EXPECT_EQ(a->links->counters().bytes_out[1], before);
}

TEST_F(LinkGaps, AHelloThatIsLostIsSaidAgain) {
  acquaint(*a, *b);
  b->transport.drop(1s);
  a->links->dial(b->contact);
  both_tell(0, 10);
  pass(options.silence / 2 + options.heartbeat);
  expect_all(10);
}

TEST_F(LinkGaps, SoIsOneWhoseAnswerIsLost) {
  acquaint(*a, *b);
  a->transport.drop(10ms);
  a->links->dial(b->contact);
  pass(5ms);
  both_tell(0, 10);
  pass(options.silence / 2 + options.heartbeat);
  expect_all(10);
}

TEST_F(LinkGaps, WhoHearsNothingForLongIsBackOnceItDoes) {
  link(*a, *b);
  a->transport.drop(options.silence - 1s);
  both_tell(0, 10);
  pass(2 * options.silence);
  expect_all(10);
}

TEST_F(LinkGaps, WhatIsLateIsNotMissed) {
  link(*a, *b);
  a->transport.delay(200ms, 2s);
  b->transport.delay(100ms, 1s);
  both_tell(0, 10);
  pass(99ms);
  EXPECT_THAT(b->amounts(), IsEmpty());
  pass(50ms);
  EXPECT_EQ(b->amounts().size(), 10U);
  EXPECT_THAT(a->amounts(), IsEmpty());
  pass(5s);
  both_tell(10, 20);
  pass(10ms);
  expect_all(20);
  EXPECT_EQ(a->links->counters().resumed, 0U);
}

TEST_F(LinkGaps, InTheTreeAMessageThatIsLostIsNoEndEither) {
  link(*a, *b);
  a->links->set_tree_peer(kB);
  b->links->set_tree_peer(kA);
  for (Linked* one : {a.get(), b.get()}) {
    one->transport.drop(300ms);
    both_tell(one == a.get() ? 0 : 10, one == a.get() ? 10 : 20);
    pass(2s);
  }
  expect_all(20);
}

}  // namespace
}  // namespace sterna::test
