// What a link sends, what it holds back, and what it does not take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

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
  /// More than a window waits on a's control lane: b takes nothing.
  void fill() {
    link(*a, *b);
    while (a->tell(kB, 0).ok()) continue;
    EXPECT_GT(a->links->queued_bytes(), 4096U);
  }
  /// b's owner handles all that comes, until a has sent all that waited.
  void drain() {
    for (int i = 0; i < 100; ++i) {
      pass(1ms);
      for (const auto& mail : b->mails) b->links->consumed(kA, *mail);
      for (auto& mail : b->mails) heard.push_back(std::move(mail));
      b->mails.clear();
    }
    EXPECT_EQ(a->links->queued_bytes(), 0U);
  }
  Result<void> send(Kind kind, std::uint64_t correlation, std::unique_ptr<Mail> mail) {
    Header header{kind == Kind::FAILURE ? LocalId{} : LocalId{5}, {6}, correlation, kind};
    header.type_id = mail->type == nullptr ? 0 : mail->type->type_id;
    return a->links->send(kB, header, std::move(mail));
  }
  Result<void> fail(std::uint64_t correlation, Errc code) {
    return send(Kind::FAILURE, correlation, std::make_unique<FailureMail>(Error{code, "words"}));
  }
  std::unique_ptr<Linked> a;
  std::unique_ptr<Linked> b;
  std::vector<std::unique_ptr<Mail>> heard;  // by b, and handled
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

TEST_F(LinkSending, WhatWaitsIsCountedWithoutALookAtEachLink) {
  start();
  const auto links = [this](std::uint64_t count) {
    for (std::uint64_t peer = 0; peer < count; ++peer) {
      EXPECT_TRUE(a->tell({100 + peer}, 1).ok());
    }
    const std::uint64_t each = a->links->queued_bytes() / count;
    EXPECT_GT(each, 100U);
    EXPECT_EQ(a->links->queued_bytes(), each * count);
    auto fastest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 20; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      for (int k = 0; k < 100; ++k) EXPECT_EQ(a->links->queued_bytes(), each * count);
      fastest = std::min(fastest, std::chrono::steady_clock::now() - begin);
    }
    for (std::uint64_t peer = 0; peer < count; ++peer) {
      a->links->unreachable({100 + peer}, "nobody is there");
    }
    EXPECT_EQ(a->links->queued_bytes(), 0U);
    return fastest;
  };
  const auto of_few = links(20);
  EXPECT_LT(links(20'000), 50 * of_few);  // were each looked at: a thousand times
}

TEST_F(LinkSending, WhatIsKeptOfALostConnectionWaitsAsWell) {
  options.patience = 30s;
  start();
  link(*a, *b);
  ASSERT_TRUE(a->tell(kB, 1).ok());
  EXPECT_EQ(a->links->queued_bytes(), 0U);
  network.set_parted("a", "b", true);
  network.cut("a", "b");
  ASSERT_TRUE(a->tell(kB, 2).ok());
  const std::uint64_t waits = a->links->queued_bytes();
  EXPECT_GT(waits, 200U);  // both
  network.set_parted("a", "b", false);
  pass(5s);
  EXPECT_THAT(b->amounts(), ElementsAre(1, 2));
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkSending, WhereAWindowWaitsWhatIsToldAskedCancelledOrAnsweredIsNotTaken) {
  start();
  fill();
  for (const Kind kind : {Kind::TELL, Kind::ASK, Kind::CANCEL, Kind::REPLY}) {
    const Result<void> taken = send(kind, 1, std::make_unique<MessageMail<Add>>(Add{1}));
    ASSERT_FALSE(taken.ok()) << static_cast<int>(kind);
    EXPECT_EQ(taken.error().code, Errc::overloaded);
  }
  EXPECT_THAT(a->ends, IsEmpty());
}

TEST_F(LinkSending, OfAFailureTheCodeWaitsThenAndGoesInItsOrder) {
  start();
  fill();
  const std::uint64_t before = a->links->queued_bytes();
  constexpr std::uint64_t kFailures = 1000;
  for (std::uint64_t i = 0; i < kFailures; ++i) {
    ASSERT_TRUE(fail(i, i % 2 == 0 ? Errc::overloaded : Errc::not_found).ok());
  }
  EXPECT_LE(a->links->queued_bytes(), before + 24 * kFailures);
  EXPECT_FALSE(a->tell(kB, 1).ok());  // it would overtake them
  drain();
  ASSERT_TRUE(a->tell(kB, 1).ok());
  drain();
  EXPECT_EQ(heard.back()->kind, Kind::TELL);
  std::uint64_t next = 0;
  for (const auto& mail : heard) {
    if (mail->kind != Kind::FAILURE) continue;
    const Error& error = static_cast<const FailureMail&>(*mail).error;
    EXPECT_EQ(mail->correlation, next);
    EXPECT_EQ(mail->source, (ActorId{kA, {6}}));
    EXPECT_EQ(error.code, next % 2 == 0 ? Errc::overloaded : Errc::not_found);
    EXPECT_THAT(error.message, HasSubstr("too much waited for b"));
    ++next;
  }
  EXPECT_EQ(next, kFailures);
  EXPECT_THAT(a->ends, IsEmpty());
  EXPECT_THAT(b->ends, IsEmpty());
}

TEST_F(LinkSending, WhoAsksMoreThanItCanAndTakesNoAnswersIsBlamed) {
  options.most_owed = 100;
  start();
  fill();
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(fail(i, Errc::overloaded).ok());
  EXPECT_THAT(a->ends, IsEmpty());
  ASSERT_TRUE(fail(100, Errc::overloaded).ok());
  ASSERT_EQ(a->ends.size(), 1U);
  EXPECT_THAT(a->ends[0],
              AllOf(HasSubstr("b: it asks, and takes no answers"), HasSubstr("(fault)")));
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkSending, WhatOurActorsWatchWaitsAsLongAsItHasTo) {
  start();
  fill();
  constexpr std::uint64_t kWatches = 1000;
  for (std::uint64_t i = 0; i < kWatches; ++i) a->links->send_watch(kB, {i});
  EXPECT_GT(a->links->queued_bytes(), 8 * 4096U);
  drain();
  EXPECT_EQ(b->watched.size(), kWatches);
  EXPECT_THAT(a->ends, IsEmpty());
}

TEST_F(LinkSending, OfTheDeathsThatAPeerWatchesFourWindowsWaitAndWhoMakesMoreIsBlamed) {
  start();
  fill();
  std::uint64_t most = 0;
  int deaths = 0;
  while (a->ends.empty() && deaths < 1000) {
    most = a->links->queued_bytes();
    a->links->send_down(kB, {{kA, {9}}, "a", 1, "it stopped, or never was"});
    ++deaths;
  }
  EXPECT_GT(most, 4 * 4096U);
  EXPECT_LT(most, 5 * 4096U);
  ASSERT_EQ(a->ends.size(), 1U);
  EXPECT_THAT(a->ends[0],
              AllOf(HasSubstr("b: it watches, and takes no word of it"), HasSubstr("(fault)")));
  EXPECT_EQ(a->links->queued_bytes(), 0U);
}

TEST_F(LinkSending, TheDeathsThatWaitComeAllTheSame) {
  start();
  fill();
  for (std::uint64_t i = 1; i <= 20; ++i) a->links->send_down(kB, {{kA, {i}}, "a", 1, "why"});
  drain();
  EXPECT_EQ(b->downs.size(), 20U);
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
