// What a process makes of the ends of its links, and who watches whom across them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/runtime/actor/counter_actor.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ProcessLinks : public SimFixture {};

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

TEST_F(ProcessLinks, AWatcherLearnsNameIncarnationAndCause) {
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

/// Watches one actor three times.
class ThoroughActor final : public Actor<Watcher> {
 public:
  ThoroughActor(ActorId watched, int& downs) : watched_(watched), downs_(downs) {}
  void started() override {
    for (int i = 0; i < 3; ++i) watch(watched_);
  }
  void down(const DownNotice&) override { ++downs_; }

 private:
  ActorId watched_;
  int& downs_;
};

TEST_F(ProcessLinks, OfWhatItCannotSendItTellsInFewLines) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  for (int i = 0; i < 10; ++i) a.tell(counter, Slow{-1ns});
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0],
            "a: what was told failed: a message is dropped: Slow.nanoseconds: -1e-09 s, at least "
            "0 s");
  EXPECT_TRUE(a.wait(a.ask(counter, Add{1}, 1s)).ok());
  EXPECT_EQ(a.wait(a.ask(counter, Slow{-1ns}, 1s)).error().code, Errc::invalid_argument);
}

TEST_F(ProcessLinks, WhoWatchesTwiceIsToldOnce) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  int here = 0;
  int there = 0;
  b.spawn<ThoroughActor>(counter.id, here);
  a.spawn<ThoroughActor>(counter.id, there);
  pass(10ms);
  b.kill(counter.id.local, "killed by the test");
  pass(10ms);
  EXPECT_EQ(here, 1);
  EXPECT_EQ(there, 1);
}

TEST_F(ProcessLinks, WatchingADeadActorAnswersAtOnce) {
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

/// Asks for so many bytes.
struct Fetch {
  using Wire = wire::Add;
  using Reply = Blob;
  std::int64_t bytes = 0;
  STERNA_INLINE_MESSAGE(Fetch, FIELD(bytes, Amount))
};
struct Store : Interface<Fetch> {};
class StoreActor final : public Actor<Store> {
 public:
  Blob on(Fetch fetch) { return {share(make_buffer(static_cast<std::size_t>(fetch.bytes)))}; }
};

TEST_F(ProcessLinks, AnAnswerThatFindsNoRoomEndsItsQuestionAtOnceAndSaysSo) {
  options.window = {1U << 16, 4096};
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto store = b.spawn<StoreActor>();
  std::vector<Future<Blob>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(a.ask(store, Fetch{2000}, 10s));
  int came = 0;
  int refused = 0;
  for (Future<Blob>& answer : answers) {
    const Result<Blob> blob = a.wait(std::move(answer));
    if (blob.ok()) {
      EXPECT_EQ(refused, 0);  // the first ones have their place
      ++came;
      continue;
    }
    ++refused;
    EXPECT_EQ(blob.error().code, Errc::overloaded);
    EXPECT_THAT(blob.error().message, HasSubstr("the answer could not be sent: "));
    EXPECT_THAT(blob.error().message, HasSubstr(" bytes already wait for a"));
  }
  EXPECT_GE(came, 4);
  EXPECT_GE(refused, 10);
  EXPECT_LT(loop.now() - Time{}, 1s);
  EXPECT_TRUE(a.wait(a.ask(store, Fetch{2000}, 1s)).ok());
}

/// The same on the lane of failures.
struct Page {
  using Wire = wire::Blob;
  Bytes data;
  STERNA_INLINE_MESSAGE(Page, FIELD(data, Data))
};
struct Turn {
  using Wire = wire::Add;
  using Reply = Page;
  std::int64_t bytes = 0;
  STERNA_INLINE_MESSAGE(Turn, FIELD(bytes, Amount))
};
struct Library : Interface<Turn> {};
class LibraryActor final : public Actor<Library> {
 public:
  Result<Page> on(Turn turn) {
    if (turn.bytes < 0) return Error{Errc::io, std::string(5U << 20, 'x')};
    return Page{share(make_buffer(static_cast<std::size_t>(turn.bytes)))};
  }
};

TEST_F(ProcessLinks, WhoAsksMoreThanItsAnswersHaveRoomForIsToldSoAndNotBlamed) {
  options.window = {1U << 16, 4096};
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto library = b.spawn<LibraryActor>();
  EXPECT_TRUE(a.wait(a.ask(library, Turn{1}, 1s)).ok());
  std::vector<Future<Page>> answers;
  for (int i = 0; i < 600; ++i) answers.push_back(a.ask(library, Turn{2000}, 10s));
  int came = 0;
  int refused = 0;
  for (Future<Page>& answer : answers) {
    const Result<Page> page = a.wait(std::move(answer));
    if (page.ok()) {
      ++came;
      continue;
    }
    ++refused;
    EXPECT_EQ(page.error().code, Errc::overloaded) << page.error().message;
    EXPECT_THAT(page.error().message, HasSubstr("for a"));
  }
  EXPECT_GE(came, 60);  // a window that is sent, and one that waits
  EXPECT_GE(refused, 300);
  EXPECT_EQ(b.links()->counters().faults, 0U);
  EXPECT_EQ(b.links()->queued_bytes(), 0U);
  EXPECT_TRUE(a.wait(a.ask(library, Turn{2000}, 1s)).ok());
}

TEST_F(ProcessLinks, TwoThatAskEachOtherTooMuchBothHearOfEachQuestion) {
  options.window = {1U << 16, 4096};
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto at_a = a.spawn<LibraryActor>();
  const auto at_b = b.spawn<LibraryActor>();
  EXPECT_TRUE(a.wait(a.ask(at_b, Turn{1}, 1s)).ok());
  std::vector<Future<Page>> answers;
  for (int i = 0; i < 900; ++i) {
    answers.push_back(a.ask(at_b, Turn{2000}, Duration::max()));
    answers.push_back(b.ask(at_a, Turn{2000}, Duration::max()));
  }
  pass(1s);
  for (Future<Page>& answer : answers) ASSERT_TRUE(answer.ready());
  EXPECT_EQ(a.links()->counters().faults + b.links()->counters().faults, 0U);
  EXPECT_EQ(a.links()->queued_bytes() + b.links()->queued_bytes(), 0U);
}

TEST_F(ProcessLinks, AFailureOfManyWordsIsCutAndHarmsNobody) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto library = b.spawn<LibraryActor>();
  const Result<Page> page = a.wait(a.ask(library, Turn{-1}, 1s));
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().code, Errc::io);
  EXPECT_EQ(page.error().message, std::string(4096, 'x'));
  EXPECT_EQ(b.links()->counters().faults, 0U);
  EXPECT_TRUE(a.wait(a.ask(library, Turn{1}, 1s)).ok());
}

TEST_F(ProcessLinks, ALostLinkEndsItsAsksAndTheNextMessageOpensANewSession) {
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

TEST_F(ProcessLinks, ALinkLostInTheMiddleOfAHandlerEndsNothingBeforeTheHandlerIsThrough) {
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

TEST_F(ProcessLinks, AHandlerIsDestroyedWhenItsAskerIsGone) {
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

TEST_F(ProcessLinks, AStoppedPeerIsDownBySilence) {
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

TEST_F(ProcessLinks, AnotherSchemaIsRefusedInALineThatNamesBothBuilds) {
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

TEST_F(ProcessLinks, AskingAProcessThatNobodyKnowsEndsAsActorDown) {
  Process& a = *start("a").process;
  const ActorRef<Counter> nowhere{{{99}, {(1ULL << 32) | 1}}};
  EXPECT_EQ(a.wait(a.ask(nowhere, Add{1}, 1s)).error().code, Errc::actor_down);
}

TEST_F(ProcessLinks, WhatTheNodeSaysOfADeathEndsAsksAndReachesWatchers) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  std::vector<DownNotice> notices;
  a.spawn<WatcherActor>(counter.id, notices);
  auto slow = a.ask(counter, Slow{10s}, 20s);
  pass(1s);
  a.process_down({{counter.id.process, {}}, "b", 1, "killed by SIGSEGV"});
  EXPECT_EQ(a.wait(std::move(slow)).error().message, "b#1 is down: killed by SIGSEGV");
  pass(10ms);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].actor, counter.id);
  EXPECT_EQ(notices[0].cause, "killed by SIGSEGV");
}

TEST_F(ProcessLinks, TheNodeIsGivenASecondToSayMoreThanThatALinkWasLost) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  std::vector<DownNotice> notices;
  a.spawn<WatcherActor>(counter.id, notices);
  pass(10ms);
  network.cut("a", "b");
  pass(500ms);
  EXPECT_TRUE(notices.empty());
  pass(1s);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].cause, "link lost: the connection was cut");
}

TEST_F(ProcessLinks, AWatcherThatIsGoneIsToldNothing) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  std::vector<DownNotice> notices;
  const auto watcher = a.spawn<WatcherActor>(counter.id, notices);
  pass(10ms);
  a.kill(watcher.id.local, "");
  pass(1ms);
  b.kill(counter.id.local, "killed by the test");
  pass(2s);
  EXPECT_TRUE(notices.empty());
}

TEST_F(ProcessLinks, WhoDiesCostsWhatItWatchedItself) {
  Process& a = *start("a").process;
  const auto counter = start("b").process->spawn<CounterActor>();
  std::vector<DownNotice> notices;
  const auto time_of = [&](int watchers) {
    std::vector<LocalId> all;
    for (int i = 0; i < watchers; ++i) {
      all.push_back(a.spawn<WatcherActor>(counter.id, notices).id.local);
    }
    pass(1s);
    const std::clock_t begin = std::clock();
    for (const LocalId watcher : all) a.kill(watcher, "");
    pass(1ms);
    return std::clock() - begin;
  };
  time_of(1000);
  const std::clock_t of_few = time_of(1000);
  EXPECT_LT(time_of(16'000), 64 * of_few);  // 16 times, and not 256
  EXPECT_EQ(a.actors(), 0U);
}

TEST_F(ProcessLinks, IdentitiesAreThoseThatWereProved) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  EXPECT_EQ(a.identity_of(a.id())->text(), "a#1");
  EXPECT_EQ(a.identity_of(b.id()), nullptr);
  EXPECT_TRUE(a.wait(a.ask(b.spawn<CounterActor>(), Add{1}, 1s)).ok());
  EXPECT_EQ(a.identity_of(b.id())->text(), "b#1");
}

}  // namespace
}  // namespace sterna::test
