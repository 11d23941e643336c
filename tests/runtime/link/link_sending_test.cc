// What a link sends, what it holds back, and what it does not take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/link/linked.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LinkSending : public LinkFixture {
 protected:
  LinkSending() { options.window = {4096, 4096}; }
  void start() {
    a = make(1, "a");
    b = make(2, "b");
  }
  /// b's owner has handled all that was delivered.
  void consume_all() {
    for (const auto& mail : b->mails) b->links->consumed(kA, *mail);
    b->mails.clear();
  }
  std::unique_ptr<Linked> a;
  std::unique_ptr<Linked> b;
};

TEST_F(LinkSending, WhatIsSentBeforeThereIsALinkWaitsAndArrivesInOrder) {
  start();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(a->tell(kB, i).ok());
  EXPECT_GT(a->links->queued_bytes(), 0U);
  EXPECT_THAT(a->introductions, ElementsAre(kB));  // asked for once
  link(*a, *b);
  EXPECT_THAT(b->amounts(), ElementsAre(0, 1, 2));
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkSending, WhatBreaksAMessagesRulesIsTheSendersErrorAndNoHarmToTheLink) {
  start();
  const auto slow = [&](Duration delay) {
    return a->send(kB, Kind::TELL, std::make_unique<MessageMail<Slow>>(Slow{delay}));
  };
  EXPECT_EQ(slow(-1ns).error().code, Errc::invalid_argument);
  EXPECT_EQ(a->links->queued_bytes(), 0U);
  link(*a, *b);
  EXPECT_THAT(slow(-1ns).error().message, HasSubstr("Slow.nanoseconds: -1e-09 s, at least 0 s"));
  ASSERT_TRUE(a->tell(kB, 7).ok());
  pass(1ms);
  EXPECT_THAT(b->amounts(), ElementsAre(7));
}

TEST_F(LinkSending, AnAnswerOrACancellationOpensNoLink) {
  start();
  for (const Kind kind : {Kind::REPLY, Kind::FAILURE, Kind::CANCEL}) {
    EXPECT_TRUE(a->send(kB, kind, std::make_unique<MessageMail<Add>>(Add{1})).ok());
  }
  EXPECT_THAT(a->introductions, IsEmpty());
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkSending, BeyondTheCreditMessagesWaitUntilOthersWereHandled) {
  start();
  link(*a, *b);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(a->tell_bulk(kB, 2000).ok());
  pass(1ms);
  EXPECT_EQ(b->mails.size(), 2U);  // the second ends beyond the 4096 bytes
  EXPECT_GT(a->links->queued_bytes(), 4000U);
  consume_all();
  pass(1ms);
  EXPECT_EQ(b->mails.size(), 2U);
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkSending, ALaneWithoutCreditDoesNotHoldUpTheOther) {
  start();
  link(*a, *b);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(a->tell_bulk(kB, 2000).ok());
  ASSERT_TRUE(a->tell(kB, 7).ok());
  pass(1ms);
  EXPECT_THAT(b->amounts(), ElementsAre(7));
}

TEST_F(LinkSending, WhatALinkSaysItselfNeedsNoCredit) {
  start();
  link(*a, *b);
  for (int i = 0; i < 100; ++i) (void)a->tell(kB, i).ok();
  pass(1ms);
  const std::size_t heard = b->mails.size();
  EXPECT_LT(heard, 100U);
  pass(options.heartbeat * 3);
  EXPECT_NE(b->links->last_words(kA), nullptr);
  EXPECT_THAT(b->ends, IsEmpty());
}

TEST_F(LinkSending, WhatWaitsIsBoundedAndTheRestIsAnErrorThatNamesThePeer) {
  start();
  link(*a, *b);
  Result<void> taken;
  int sent = 0;
  while (taken.ok() && sent < 100) {
    taken = a->tell_bulk(kB, 2000);
    ++sent;
  }
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, Errc::overloaded);
  EXPECT_THAT(taken.error().message, AllOf(HasSubstr("bytes already wait"), HasSubstr("b")));
  EXPECT_LT(a->links->queued_bytes(), 2U * 4096U);
}

TEST_F(LinkSending, AMessageLargerThanTheWindowIsSentWholeAllTheSame) {
  start();
  link(*a, *b);
  ASSERT_TRUE(a->tell_bulk(kB, 100000).ok());
  pass(1ms);
  ASSERT_EQ(b->mails.size(), 1U);
  consume_all();
  pass(1ms);
  ASSERT_TRUE(a->tell_bulk(kB, 100000).ok());
  pass(1ms);
  EXPECT_EQ(b->mails.size(), 1U);
}

TEST_F(LinkSending, AsksThatWaitFailWithTheLinkAndNothingElseDoes) {
  start();
  link(*a, *b);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(a->tell_bulk(kB, 3000).ok());
  ASSERT_TRUE(
      a->send(kB, Kind::ASK, std::make_unique<MessageMail<Blob>>(Blob{share(make_buffer(1))}))
          .ok());
  network.cut("a", "b");
  EXPECT_THAT(a->failures, ElementsAre("ask actor_down: link lost: the connection was cut"));
}

TEST_F(LinkSending, BytesAreCountedByLaneAtBothEnds) {
  start();
  link(*a, *b);
  const auto before = a->links->counters().bytes_out;
  ASSERT_TRUE(a->tell_bulk(kB, 2000).ok());
  pass(1ms);
  EXPECT_EQ(a->links->counters().bytes_out[0], before[0]);
  EXPECT_GT(a->links->counters().bytes_out[1], before[1] + 2000);
  // The Hello's bytes were counted where it was sent only.
  EXPECT_EQ(b->links->counters().bytes_in[1], a->links->counters().bytes_out[1] - before[1]);
}

TEST_F(LinkSending, ChaosLosesDelaysOrRepeatsWhatItChooses) {
  start();
  link(*a, *b);
  Links::Fate fate;
  a->links->set_chaos([&](const Header&, ProcessId) { return fate; });
  fate.kind = Links::Fate::Kind::lose;
  ASSERT_TRUE(a->tell(kB, 1).ok());
  fate = {Links::Fate::Kind::delay, 1s};
  ASSERT_TRUE(a->tell(kB, 2).ok());
  fate = {Links::Fate::Kind::repeat, {}};
  ASSERT_TRUE(a->tell(kB, 3).ok());
  pass(1ms);
  EXPECT_THAT(b->amounts(), ElementsAre(3, 3));
  pass(2s);
  EXPECT_THAT(b->amounts(), ElementsAre(3, 3, 2));
}

}  // namespace
}  // namespace sterna::test
