#include <gtest/gtest.h>

#include "tests/runtime/actor/test_messages.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;

class ProcessTest : public SimFixture {};

TEST_F(ProcessTest, AnAskWithinAProcessIsAnswered) {
  Process& process = *start("a").process;
  const auto counter = process.spawn<CounterActor>();
  EXPECT_EQ(process.wait(process.ask(counter, Add{2}, 1s))->value, 2);
  EXPECT_EQ(process.wait(process.ask(counter, Add{3}, 1s))->value, 5);
}

TEST_F(ProcessTest, AnAskBetweenProcessesIsAnsweredInEitherDirection) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto at_a = a.spawn<CounterActor>();
  const auto at_b = b.spawn<CounterActor>();
  EXPECT_EQ(a.wait(a.ask(at_b, Add{2}, 1s))->value, 2);
  EXPECT_EQ(b.wait(b.ask(at_a, Add{7}, 1s))->value, 7);
  EXPECT_EQ(a.links()->open_links(), 1U);
}

TEST_F(ProcessTest, TheHigherNameMaySpeakFirst) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto at_a = a.spawn<CounterActor>();
  EXPECT_EQ(b.wait(b.ask(at_a, Add{7}, 1s))->value, 7);
}

TEST_F(ProcessTest, MessagesArriveInTheOrderTheyWereSent) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  std::vector<Future<Total>> futures;
  for (int i = 1; i <= 100; ++i) futures.push_back(a.ask(counter, Add{1}, 1s));
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(a.wait(std::move(futures[static_cast<std::size_t>(i - 1)]))->value, i);
  }
}

TEST_F(ProcessTest, AnAskEndsAtItsDeadlineAndTheHandlerIsDestroyed) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  const Time begin = loop.now();
  const Result<Total> total = a.wait(a.ask(counter, Slow{10s}, 100ms));
  ASSERT_FALSE(total.ok());
  EXPECT_EQ(total.error().code, Errc::deadline);
  EXPECT_EQ(loop.now() - begin, 100ms);
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
}

TEST_F(ProcessTest, CancellingAnAskEndsItHereAndThere) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  Future<Total> future = a.ask(counter, Slow{10s}, 20s);
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 1);
  future.cancel();
  EXPECT_EQ(future.take().error().code, Errc::cancelled);
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
}

/// Asks, and dies before the answer.
class ImpatientActor final : public Actor<Interface<>> {
 public:
  explicit ImpatientActor(ActorRef<Counter> counter) : counter_(counter) {}

 private:
  void started() override { run(asking()); }
  Task<void> asking() {
    Future<Total> total = ask(counter_, Slow{10s}, 20s);
    co_await sleep(1s);
    stop();
  }
  ActorRef<Counter> counter_;
};

TEST_F(ProcessTest, WhatAnActorAskedEndsWithIt) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  a.spawn<ImpatientActor>(counter);
  pass(500ms);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 1);
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
}

TEST_F(ProcessTest, AnAnswerOpensNoLink) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  auto slow = a.ask(b.spawn<CounterActor>(), Slow{1s}, 5s);
  pass(500ms);
  network.cut("a", "b");
  EXPECT_EQ(a.wait(std::move(slow)).error().code, Errc::actor_down);
  pass(1s);
  EXPECT_EQ(b.links()->open_links(), 0U);
}

TEST_F(ProcessTest, HandlersInterleaveWhereTheyWait) {
  Process& process = *start("a").process;
  const auto counter = process.spawn<CounterActor>();
  auto slow = process.ask(counter, Slow{1s}, 5s);
  auto fast = process.ask(counter, Add{4}, 5s);
  EXPECT_EQ(process.wait(std::move(fast))->value, 4);
  EXPECT_FALSE(slow.ready());
  EXPECT_EQ(process.wait(std::move(slow))->value, 4);
}

TEST_F(ProcessTest, AnErrorReturnedByAHandlerReachesTheAsker) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const Result<void> answer = a.wait(a.ask(b.spawn<CounterActor>(), Boom{}, 1s));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "refused to boom");
}

TEST_F(ProcessTest, AHandlerThatThrowsEndsItsActorAndEverythingItWaitedIn) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  int alive = 0;
  const auto counter = b.spawn<CounterActor>(true, &alive);
  auto slow = a.ask(counter, Slow{10s}, 20s);
  const Result<void> boom = a.wait(a.ask(counter, Boom{}, 1s));
  EXPECT_EQ(boom.error().message, "its handler threw: boom");
  const Result<Total> died = a.wait(std::move(slow));
  EXPECT_EQ(died.error().code, Errc::actor_down);
  EXPECT_EQ(alive, 0);
  const Result<Total> later = a.wait(a.ask(counter, Add{1}, 1s));
  EXPECT_EQ(later.error().code, Errc::actor_down);
  EXPECT_NE(later.error().message.find("boom"), std::string::npos);
}

TEST_F(ProcessTest, BulkBytesArriveUnchanged) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  for (const std::size_t size : {0U, 1U, 100U, 4096U, 100003U}) {
    auto buffer = make_buffer(size);
    for (std::size_t i = 0; i < size; ++i) buffer->data()[i] = static_cast<std::byte>(i * 7);
    const Bytes sent = share(buffer);
    const Result<Blob> echo = a.wait(a.ask(counter, Blob{sent}, 1s));
    ASSERT_TRUE(echo.ok()) << echo.error().message;
    EXPECT_TRUE(std::equal(sent.view().begin(), sent.view().end(), echo->data.view().begin(),
                           echo->data.view().end()));
  }
}

/// Watches one actor and remembers how it went.
struct Watcher : Interface<> {};
class WatcherActor final : public Actor<Watcher> {
 public:
  WatcherActor(ActorId watched, std::vector<DownNotice>& notices)
      : watched_(watched), notices_(notices) {}
  void started() override { watch(watched_); }
  void down(const DownNotice& notice) override { notices_.push_back(notice); }

 private:
  ActorId watched_;
  std::vector<DownNotice>& notices_;
};

TEST_F(ProcessTest, AWatcherLearnsNameIncarnationAndCause) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>(true);
  std::vector<DownNotice> notices;
  a.spawn<WatcherActor>(counter.id, notices);
  b.spawn<WatcherActor>(counter.id, notices);
  pass(10ms);
  EXPECT_FALSE(b.wait(b.ask(counter, Boom{}, 1s)).ok());
  pass(10ms);
  ASSERT_EQ(notices.size(), 2U);
  for (const DownNotice& notice : notices) {
    EXPECT_EQ(notice.actor, counter.id);
    EXPECT_EQ(notice.name, "b");
    EXPECT_EQ(notice.incarnation, 1U);
    EXPECT_EQ(notice.cause, "a handler threw: boom");
  }
}

TEST_F(ProcessTest, WatchingADeadActorAnswersAtOnce) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  b.kill(counter.id.local, "killed by the test");
  pass(1ms);
  std::vector<DownNotice> notices;
  a.spawn<WatcherActor>(counter.id, notices);
  pass(10ms);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].cause, "killed by the test");
}

TEST_F(ProcessTest, ALostLinkEndsItsAsksAndTheNextMessageOpensANewSession) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  auto slow = a.ask(counter, Slow{10s}, 20s);
  pass(1s);
  network.cut("a", "b");
  EXPECT_EQ(a.wait(std::move(slow)).error().code, Errc::actor_down);
  EXPECT_EQ(a.wait(a.ask(counter, Add{1}, 1s))->value, 1);
}

/// Dies if its long ask fails, while another of its tasks is in the middle of something.
class DependentActor final : public Actor<Interface<>> {
 public:
  DependentActor(ActorRef<Counter> counter, std::function<void()> cut, std::string& said)
      : counter_(counter), cut_(std::move(cut)), said_(said) {}

 private:
  void started() override {
    run(depending());
    run(talking());
  }
  Task<void> depending() {
    Future<Total> total = ask(counter_, Slow{10s}, 20s);
    const Result<Total> answer = co_await total;
    if (!answer) fail("it depended on that");
  }
  Task<void> talking() {
    std::string words(100, 'w');  // lies in this frame
    co_await sleep(1s);
    cut_();
    tell(counter_, Add{1});
    said_ = words;
  }
  ActorRef<Counter> counter_;
  std::function<void()> cut_;
  std::string& said_;
};

TEST_F(ProcessTest, ALinkLostInTheMiddleOfAHandlerEndsNothingBeforeTheHandlerIsThrough) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  std::string said;
  std::string cause;
  a.set_on_death([&](LocalId, const std::string& why) { cause = why; });
  a.spawn<DependentActor>(
      counter, [this] { network.cut("a", "b"); }, said);
  pass(2s);
  EXPECT_EQ(said, std::string(100, 'w'));
  EXPECT_EQ(cause, "it depended on that");
}

TEST_F(ProcessTest, APeerKeepsOnlySoManyHandlersWaiting) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  const std::size_t most = b.options().max_waiting_handlers;
  std::vector<Future<Total>> slow;
  for (std::size_t i = 0; i <= most; ++i) {
    slow.push_back(a.ask(counter, Slow{100s}, 200s));
    if (i % 1000 == 0) pass(10ms);  // within the credit
  }
  loop.run_until([&] { return slow.back().ready(); }, loop.now() + 50s);
  ASSERT_TRUE(slow.back().ready());
  EXPECT_EQ(slow.back().take().error().code, Errc::overloaded);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), most);
  while (!slow.empty()) slow.pop_back();
  pass(1s);
  EXPECT_EQ(a.wait(a.ask(counter, Slow{1s}, 5s))->value, 0);
}

TEST_F(ProcessTest, AHandlerIsDestroyedWhenItsAskerIsGone) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  const auto slow = a.ask(counter, Slow{10s}, 20s);
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 1);
  network.cut("a", "b");
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
}

TEST_F(ProcessTest, AStoppedPeerIsDownBySilence) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  EXPECT_TRUE(a.wait(a.ask(counter, Add{1}, 1s)).ok());
  network.set_paused("a", true);  // what b says no longer reaches a
  const Time begin = loop.now();
  const Result<Total> answer = a.wait(a.ask(counter, Add{1}, 60s));
  EXPECT_EQ(answer.error().message, "b#1 is down: silence");
  EXPECT_LE(loop.now() - begin, options.silence * 3 / 2 + 2 * options.heartbeat);
}

TEST_F(ProcessTest, AnActorsDeathTakesItsChildrenAlong) {
  struct Parent : Interface<> {};
  class ParentActor final : public Actor<Parent> {
   public:
    explicit ParentActor(int& alive) : alive_(alive) {}
    void started() override {
      for (int i = 0; i < 3; ++i) spawn<CounterActor>(false, &alive_);
    }

   private:
    int& alive_;
  };
  Process& process = *start("a").process;
  int alive = 0;
  const auto parent = process.spawn<ParentActor>(alive);
  EXPECT_EQ(alive, 3);
  process.kill(parent.id.local, "test");
  pass(1ms);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(process.actors(), 0U);
}

TEST_F(ProcessTest, ALostRequestEndsByDeadlineARepeatedOneIsSeenTwiceADelayedOneLate) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  EXPECT_TRUE(a.wait(a.ask(counter, Add{0}, 1s)).ok());
  Links::Fate fate;
  a.set_chaos([&](const Header& header, ProcessId) {
    return header.kind == Kind::ASK ? std::exchange(fate, {}) : Links::Fate{};
  });
  fate.kind = Links::Fate::Kind::lose;
  EXPECT_EQ(a.wait(a.ask(counter, Add{1}, 1s)).error().code, Errc::deadline);
  fate.kind = Links::Fate::Kind::repeat;
  EXPECT_TRUE(a.wait(a.ask(counter, Add{1}, 1s)).ok());
  EXPECT_EQ(a.wait(a.ask(counter, Add{0}, 1s))->value, 2);
  fate = {Links::Fate::Kind::delay, 300ms};
  const Time begin = loop.now();
  EXPECT_TRUE(a.wait(a.ask(counter, Add{0}, 1s)).ok());
  EXPECT_GE(loop.now() - begin, 300ms);
}

TEST_F(ProcessTest, ALostReplyEndsByDeadline) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  b.set_chaos([](const Header& header, ProcessId) {
    return Links::Fate{
        header.kind == Kind::REPLY ? Links::Fate::Kind::lose : Links::Fate::Kind::deliver, {}};
  });
  EXPECT_EQ(a.wait(a.ask(counter, Add{1}, 1s)).error().code, Errc::deadline);
}

TEST_F(ProcessTest, AReceiverThatStopsReadingHoldsItsSendersBytesUnderTheCredit) {
  options.window = {1U << 16, 1U << 20};
  options.silence = 3600s;
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  EXPECT_TRUE(a.wait(a.ask(counter, Add{0}, 1s)).ok());
  network.set_paused("b", true);
  const Bytes blob = share(make_buffer(100000));
  std::vector<Future<Blob>> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(a.ask(counter, Blob{blob}, 2s));
  const std::uint64_t message = 101000;
  EXPECT_LE(a.links()->queued_bytes(), options.window[1] + message);
  int deadline = 0;
  int overloaded = 0;
  for (auto& future : futures) {
    const Errc code = a.wait(std::move(future)).error().code;
    deadline += code == Errc::deadline ? 1 : 0;
    overloaded += code == Errc::overloaded ? 1 : 0;
  }
  EXPECT_GT(overloaded, 50);
  EXPECT_EQ(deadline + overloaded, 100);
  network.set_paused("b", false);
  pass(1s);
  EXPECT_TRUE(a.wait(a.ask(counter, Blob{blob}, 10s)).ok());
  EXPECT_EQ(a.links()->queued_bytes(), 0U);
}

TEST_F(ProcessTest, AnotherSchemaIsRefusedInALineThatNamesBothBuilds) {
  options.build_id = "old";
  options.host = "left";
  Process& a = *start("a").process;
  options.build_id = "new";
  options.host = "right";
  options.schema_hash = 99;
  Process& b = *start("b").process;
  const Result<Total> answer = a.wait(a.ask(b.spawn<CounterActor>(), Add{1}, 1s));
  ASSERT_FALSE(answer.ok());
  for (const char* part : {"refused", "old", "left", "new", "right"}) {
    EXPECT_NE(answer.error().message.find(part), std::string::npos) << answer.error().message;
  }
}

TEST_F(ProcessTest, AskingAProcessThatNobodyKnowsEndsAsActorDown) {
  Process& a = *start("a").process;
  const ActorRef<Counter> nowhere{{{99}, {(1ULL << 32) | 1}}};
  EXPECT_EQ(a.wait(a.ask(nowhere, Add{1}, 1s)).error().code, Errc::actor_down);
}

TEST_F(ProcessTest, AHundredThousandLightActorsAnswerAndGo) {
  Process& process = *start("a").process;
  std::vector<ActorRef<Counter>> actors;
  for (int i = 0; i < 100000; ++i) actors.push_back(process.spawn<CounterActor>());
  EXPECT_EQ(process.wait(process.ask(actors.back(), Add{5}, 1s))->value, 5);
  EXPECT_EQ(process.actors(), 100000U);
}

}  // namespace
}  // namespace sterna::test
