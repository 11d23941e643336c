// A process's asks: how each ends, and how many there may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/runtime/actor/counter_actor.h"
#include "tests/runtime/link/skewed_loop.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

class ProcessAsks : public SimFixture {};

TEST_F(ProcessAsks, AnAskEndsAtItsDeadlineAndTheHandlerIsDestroyed) {
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

TEST_F(ProcessAsks, AnAskMayWaitForever) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  EXPECT_TRUE(a.wait(a.ask(counter, Slow{10s}, Duration::max())).ok());
}

TEST_F(ProcessAsks, CancellingAnAskEndsItHereAndThere) {
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

TEST_F(ProcessAsks, WhatAnActorAskedEndsWithIt) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  a.spawn<ImpatientActor>(counter);
  pass(500ms);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 1);
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
}

TEST_F(ProcessAsks, AnAnswerOpensNoLink) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  auto slow = a.ask(b.spawn<CounterActor>(), Slow{1s}, 5s);
  pass(500ms);
  network.cut("a", "b");
  EXPECT_EQ(a.wait(std::move(slow)).error().code, Errc::actor_down);
  pass(1s);
  EXPECT_EQ(b.links()->open_links(), 0U);
}

TEST_F(ProcessAsks, APeerKeepsOnlySoManyHandlersWaiting) {
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

TEST_F(ProcessAsks, APeerKeepsNoMoreHandlersWaitingWhereItTellsWhatOthersAsk) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  const std::size_t most = b.options().max_waiting_handlers;
  for (std::size_t i = 0; i < most + 1000; ++i) {
    a.tell(counter, Slow{100s});
    if (i % 1000 == 0) pass(10ms);  // within the credit
  }
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), most);
  EXPECT_THAT(log, Contains(HasSubstr("what was told is dropped: too many")));
  pass(100s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
  EXPECT_TRUE(a.wait(a.ask(counter, Slow{1s}, 5s)).ok());
}

TEST_F(ProcessAsks, APeerKeepsOnlySoManyBytesInHandlersThatWait) {
  constexpr std::size_t kBytes = 1U << 14;
  options.window = {1U << 16, 1U << 18};
  /// Keeps what it is sent.
  class KeepingActor final : public Actor<Counter> {
   public:
    Total on(Add) { return {}; }
    Total on(Slow) { return {}; }
    Result<void> on(Boom) { return {}; }
    Task<Blob> on(Blob blob) {
      kept += blob.data.size();
      co_await sleep(100s);
      kept -= blob.data.size();
      co_return Blob{};
    }
    std::size_t kept = 0;
  };
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto keeping = b.spawn<KeepingActor>();
  const auto& actor = static_cast<KeepingActor&>(*b.find(keeping.id.local));
  const std::uint64_t most = b.options().max_waiting_bytes();
  const Bytes blob = share(make_buffer(kBytes));
  std::vector<Future<Blob>> asked;
  for (std::size_t i = 0; i < 2 * most / kBytes; ++i) {
    asked.push_back(a.ask(keeping, Blob{blob}, 200s));
    pass(10ms);  // within the credit
  }
  EXPECT_GT(actor.kept, most - most / 16) << "messages are larger than their data";
  EXPECT_LE(actor.kept, most);
  ASSERT_TRUE(asked.back().ready());
  EXPECT_EQ(asked.back().take().error().code, Errc::overloaded);
  asked.clear();
  pass(1s);
  EXPECT_TRUE(a.wait(a.ask(keeping, Blob{blob}, 200s)).ok());
}

TEST_F(ProcessAsks, TheEndOfAQuestionCostsTheSameHoweverManyHandlersWait) {
  Process& process = *start("a").process;
  const auto counter = process.spawn<CounterActor>();
  const auto time_of = [&](int asks) {
    std::vector<Future<Total>> slow;
    for (int i = 0; i < asks; ++i) slow.push_back(process.ask(counter, Slow{100s}, 1s));
    pass(10ms);
    EXPECT_EQ(static_cast<CounterActor*>(process.find(counter.id.local))->held(), asks);
    const std::clock_t begin = std::clock();
    pass(2s);
    const std::clock_t took = std::clock() - begin;
    EXPECT_EQ(slow.back().take().error().code, Errc::deadline);
    EXPECT_EQ(static_cast<CounterActor*>(process.find(counter.id.local))->held(), 0);
    return took;
  };
  time_of(2000);
  const std::clock_t of_few = time_of(2000);
  EXPECT_LT(time_of(32'000), 80 * of_few);  // 16 times, and not 256
}

TEST_F(ProcessAsks, ALostRequestEndsByDeadlineARepeatedOneIsSeenTwiceADelayedOneLate) {
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

TEST_F(ProcessAsks, ALostReplyEndsByDeadline) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  b.set_chaos([](const Header& header, ProcessId) {
    return Links::Fate{
        header.kind == Kind::REPLY ? Links::Fate::Kind::lose : Links::Fate::Kind::deliver, {}};
  });
  EXPECT_EQ(a.wait(a.ask(counter, Add{1}, 1s)).error().code, Errc::deadline);
}

TEST_F(ProcessAsks, AReceiverThatStopsReadingHoldsItsSendersBytesUnderTheCredit) {
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

struct Middle : Interface<Boom> {};
struct Reporter : Interface<Boom> {
  static constexpr bool kSpeaksOfOthers = true;
};

/// Ends as it is told, as if another that it asked had ended so.
template <class I>
class BereftActor final : public Actor<I> {
 public:
  explicit BereftActor(Error error) : error_(std::move(error)) {}
  Task<Result<void>> on(Boom) { co_return error_; }

 private:
  Error error_;
};

TEST_F(ProcessAsks, AHandlerThatLacksAnotherIsNotTakenForOneThatIsLostItself) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto code_of = [&]<class I>(std::type_identity<I>, Errc code) {
    const auto actor = b.spawn<BereftActor<I>>(Error{code, "the third"});
    const Result<void> answer = a.wait(a.ask(actor, Boom{}, 1s));
    EXPECT_EQ(answer.error().message, "the third");
    return answer.error().code;
  };
  for (const Errc code : {Errc::actor_down, Errc::deadline, Errc::cancelled, Errc::overloaded}) {
    EXPECT_EQ(code_of(std::type_identity<Middle>{}, code), Errc::remote);
    EXPECT_EQ(code_of(std::type_identity<Reporter>{}, code), code);
  }
  EXPECT_EQ(code_of(std::type_identity<Middle>{}, Errc::not_found), Errc::not_found);
}

/// A process without links, whose limits a test sets.
struct Alone {
  Process make(ProcessOptions options) {
    options.link.self = {1};
    return {{loop, random, executor, nullptr,
             [this](std::string_view line) { log.emplace_back(line); }},
            options};
  }
  SimLoop loop;
  SeededRandom random{1};
  SimExecutor executor{loop, [] { return Duration(1000); }};
  std::vector<std::string> log;
};

TEST(ProcessAlone, HoldsOnlySoManyAsksInFlight) {
  Alone alone;
  ProcessOptions options;
  options.max_asks = 2;
  Process process = alone.make(options);
  const auto counter = process.spawn<CounterActor>();
  Future<Total> first = process.ask(counter, Slow{1s}, 5s);
  Future<Total> second = process.ask(counter, Slow{1s}, 5s);
  Future<Total> third = process.ask(counter, Slow{1s}, 5s);
  ASSERT_TRUE(third.ready());
  EXPECT_EQ(third.take().error().code, Errc::overloaded);
  EXPECT_TRUE(process.wait(std::move(first)).ok());
  EXPECT_TRUE(process.wait(process.ask(counter, Add{1}, 1s)).ok());
}

TEST(ProcessAlone, LogsWithWhatAHandlerOfWhatWasToldHasFailedAndNotTooOften) {
  Alone alone;
  {
    Process process = alone.make({});
    const auto counter = process.spawn<CounterActor>();
    for (int i = 0; i < 10; ++i) process.tell(counter, Boom{});
    const auto bereft = process.spawn<BereftActor<Middle>>(Error{Errc::io, "no disk"});
    const Time later = alone.loop.now() + 2s;
    alone.loop.at(later, [&] {
      for (int i = 0; i < 3; ++i) process.tell(bereft, Boom{});
    });
    alone.loop.run_until([] { return false; }, later);
  }
  EXPECT_THAT(alone.log, testing::ElementsAre("what was told failed: refused to boom",
                                              "what was told failed: no disk (and 9 more before)",
                                              "(and 2 more failures, unsaid)"));
}

/// Owns another, and ends with the process.
class OwnerActor final : public Actor<Interface<>> {
 public:
  explicit OwnerActor(ActorRef<Counter>& light) : light_(light) {}

 private:
  void started() override { light_ = spawn<CounterActor>(true); }
  ActorRef<Counter>& light_;
};

TEST(ProcessAlone, LogsThatALightActorHasFailedWhichNobodyMayWatch) {
  Alone alone;
  {
    Process process = alone.make({});
    ActorRef<Counter> light;
    // The one that is buried first takes what it owns with it, wherever that lies.
    const auto first = process.spawn<CounterActor>();
    const auto second = process.spawn<CounterActor>();
    process.kill(second.id.local, "");
    process.kill(first.id.local, "");
    alone.loop.run_until([&] { return process.actors() == 0; }, alone.loop.now() + 1s);
    ActorRef<Counter> quiet;
    process.spawn<OwnerActor>(quiet);
    process.spawn<OwnerActor>(light);
    EXPECT_FALSE(process.wait(process.ask(light, Boom{}, 1s)).ok());
    EXPECT_FALSE(process.alive(light.id.local));
    EXPECT_TRUE(process.alive(quiet.id.local));
    EXPECT_EQ(quiet.id.local.value & 0xffffffffU, 1U);  // below its owner's slot
  }
  EXPECT_THAT(alone.log, testing::ElementsAre("a light actor failed: a handler threw: boom"));
}

TEST(ProcessAlone, QueuesOnlySoMuchMail) {
  Alone alone;
  ProcessOptions options;
  options.max_mail = 2;
  Process process = alone.make(options);
  const auto counter = process.spawn<CounterActor>();
  process.tell(counter, Add{1});
  process.tell(counter, Add{2});
  process.tell(counter, Add{4});
  EXPECT_EQ(process.wait(process.ask(counter, Add{0}, 1s)).error().code, Errc::overloaded);
  EXPECT_EQ(alone.log.size(), 1U);  // of what was told
  EXPECT_EQ(process.wait(process.ask(counter, Add{0}, 1s))->value, 3);
}

/// The actor answers behind its second, the deadline is one more later; both pass while the process
/// stands still.
TEST(ProcessAlone, TimeThatItStoodStillIsNotHeldAgainstWhoWasAsked) {
  Alone alone;
  SkewedLoop own(alone.loop, Duration::zero(), 0);
  Process process{{own, alone.random, alone.executor, nullptr, [](std::string_view) {}}, {}};
  const auto counter = process.spawn<CounterActor>();
  const auto still = [&](Duration time) {
    alone.loop.run_until([] { return false; }, alone.loop.now() + 1ms);
    own.set_stopped(true);
    alone.loop.after(time, [&] { own.set_stopped(false); });
  };
  Future<Total> total = process.ask(counter, Slow{1s}, 2s);
  still(3s);
  EXPECT_TRUE(process.wait(std::move(total)).ok());
  // Once: who never answers is not waited for as long as this process is stopped again and again.
  Future<Total> never = process.ask(counter, Slow{60s}, 2s);
  const Time asked = own.now();
  still(3s);
  alone.loop.after(3'100ms, [&] {
    own.set_stopped(true);
    alone.loop.after(2s, [&] { own.set_stopped(false); });
  });
  EXPECT_EQ(process.wait(std::move(never)).error().code, Errc::deadline);
  EXPECT_EQ(own.now() - asked, 5'101ms);
}

TEST(ProcessAlone, ReachesNobodyElse) {
  Alone alone;
  Process process = alone.make({});
  const ActorRef<Counter> elsewhere{{{99}, {(1ULL << 32) | 1}}};
  const Result<Total> answer = process.wait(process.ask(elsewhere, Add{1}, 1s));
  EXPECT_EQ(answer.error().message, "this process has no links to others");
}

TEST_F(ProcessAsks, AFutureMayMoveWhileItWaits) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  Future<Total> first = a.ask(counter, Slow{1s}, 5s);
  Future<Total> second = std::move(first);
  std::vector<Future<Total>> many;
  many.push_back(std::move(second));
  for (int i = 0; i < 100; ++i) many.push_back(a.ask(counter, Slow{1s}, 5s));
  first = std::move(many.front());
  EXPECT_TRUE(a.wait(std::move(first)).ok());
}

TEST_F(ProcessAsks, AFutureThatIsDroppedWithdrawsItsAsk) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  {
    const Future<Total> future = a.ask(counter, Slow{10s}, 20s);
    pass(1s);
    EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 1);
  }
  pass(1s);
  EXPECT_EQ(static_cast<CounterActor*>(b.find(counter.id.local))->held(), 0);
}

}  // namespace
}  // namespace sterna::test
