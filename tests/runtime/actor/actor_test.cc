// What an actor may do: wait, compute elsewhere, be posted to, have children, and end.
#include "runtime/actor/actor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/loop/thread_executor.h"
#include "runtime/loop/uv_loop.h"
#include "tests/runtime/actor/counter_actor.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;

/// Does what a test hands it, with all that actors have.
class FreeActor final : public Actor<Interface<>> {
 public:
  using Work = std::function<Task<void>(FreeActor&)>;
  explicit FreeActor(Work work) : work_(std::move(work)) {}
  using ActorBase::compute;
  using ActorBase::fail;
  using ActorBase::id;
  using ActorBase::identity;
  using ActorBase::log;
  using ActorBase::now;
  using ActorBase::poster;
  using ActorBase::run;
  using ActorBase::sleep;
  using ActorBase::spawn;
  using ActorBase::stop;

 private:
  void started() override { run(work_(*this)); }
  Work work_;  // the coroutines use its captures
};

class Actors : public SimFixture {
 protected:
  Actors() { process = start("a").process.get(); }
  LocalId free_actor(FreeActor::Work work) {
    return process->spawn<FreeActor>(std::move(work)).id.local;
  }
  Process* process;
};

TEST_F(Actors, KnowWhoTheirProcessIs) {
  Process& again = *start("b", 2).process;
  std::string who;
  again.spawn<FreeActor>([&](FreeActor& self) -> Task<void> {
    who = self.identity().text();
    co_return;
  });
  EXPECT_EQ(who, "b#2");
}

TEST_F(Actors, SleepAsLongAsTheySay) {
  Duration slept{};
  free_actor([&](FreeActor& self) -> Task<void> {
    const Time before = self.now();
    co_await self.sleep(3s);
    slept = self.now() - before;
  });
  pass(10s);
  EXPECT_EQ(slept, 3s);
}

TEST_F(Actors, KeepWhatALambdaOfTheirsCaptured) {
  std::string said;
  std::string died_of;
  process->set_on_death([&](LocalId, const std::string& cause) { died_of = cause; });
  const auto captured = std::make_shared<std::string>("still here");
  const std::weak_ptr<std::string> lives = captured;
  free_actor([&said, captured](FreeActor& self) -> Task<void> {
    self.run([&self, &said, copy = captured]() -> Task<void> {
      co_await self.sleep(1s);
      said = *copy + " " + std::to_string(copy.use_count());
    });
    self.run([&self]() -> Task<Result<void>> {
      co_await self.sleep(2s);
      co_return Error{Errc::io, "no disk"};
    });
    co_return;
  });
  pass(1500ms);
  EXPECT_EQ(said, "still here 3");  // here, in the actor's work and in the lambda
  pass(1s);
  EXPECT_EQ(died_of, "no disk");
  EXPECT_EQ(lives.use_count(), 1);
}

TEST_F(Actors, SleepForeverWhereTheyAreTold) {
  bool awake = false;
  free_actor([&](FreeActor& self) -> Task<void> {
    co_await self.sleep(Duration::max());
    awake = true;
  });
  pass(100s);
  EXPECT_FALSE(awake);
}

TEST_F(Actors, ComputeElsewhereAndGoOnWithTheResult) {
  std::string result;
  free_actor([&](FreeActor& self) -> Task<void> {
    auto job = self.compute([] { return std::string(100, 'r'); });
    result = co_await job;
    auto nothing = self.compute([] {});
    co_await nothing;
    result += "!";
  });
  pass(1ms);
  EXPECT_EQ(result, std::string(100, 'r') + "!");
}

TEST_F(Actors, WhoDiesWhileAJobRunsIsNotResumed) {
  bool resumed = false;
  const LocalId actor = free_actor([&](FreeActor& self) -> Task<void> {
    auto job = self.compute([] {});
    co_await job;
    resumed = true;
  });
  process->kill(actor, "test");
  pass(1s);
  EXPECT_FALSE(resumed);
}

TEST_F(Actors, ArePostedToOnlyWhileTheyLive) {
  Poster poster;
  int posted = 0;
  poster.post([&] { ++posted; });  // to nobody
  const LocalId actor = free_actor([&](FreeActor& self) -> Task<void> {
    poster = self.poster();
    co_return;
  });
  poster.post([&] { ++posted; });
  pass(1ms);
  EXPECT_EQ(posted, 1);
  process->kill(actor, "");
  pass(1ms);
  poster.post([&] { ++posted; });
  pass(1ms);
  EXPECT_EQ(posted, 1);
}

TEST_F(Actors, TakeTheirChildrenWithThem) {
  int alive = 0;
  const LocalId actor = free_actor([&](FreeActor& self) -> Task<void> {
    self.spawn<CounterActor>(false, &alive);
    co_return;
  });
  EXPECT_EQ(alive, 1);
  process->kill(actor, "");
  pass(1ms);
  EXPECT_EQ(alive, 0);
}

TEST_F(Actors, StopWithoutACauseAndFailWithOne) {
  std::vector<std::string> causes;
  process->set_on_death([&](LocalId, const std::string& cause) { causes.push_back(cause); });
  free_actor([](FreeActor& self) -> Task<void> {
    self.stop();
    self.fail("too late");
    co_return;
  });
  free_actor([](FreeActor& self) -> Task<void> {
    self.fail("no such file");
    co_return;
  });
  pass(1ms);
  EXPECT_THAT(causes, testing::UnorderedElementsAre("", "no such file"));
}

TEST_F(Actors, AThrowInATaskEndsItsActor) {
  std::string died_of;
  process->set_on_death([&](LocalId, const std::string& cause) { died_of = cause; });
  free_actor([](FreeActor& self) -> Task<void> {
    co_await self.sleep(1s);
    throw std::runtime_error("no luck");
  });
  pass(2s);
  EXPECT_EQ(died_of, "a handler threw: no luck");
}

/// Throws where it is told to.
class ThrowingActor final : public Actor<Interface<>> {
 public:
  ThrowingActor(std::string place, ActorId watched) : place_(std::move(place)), watched_(watched) {}

 private:
  void started() override {
    throw_in("started");
    watch(watched_);
    poster().post([this] { throw_in("a post"); });
  }
  void down(const DownNotice&) override { throw_in("down"); }
  void stop_requested() override {
    throw_in("stop_requested");
    stop();
  }
  void throw_in(std::string_view place) const {
    if (place == place_) throw std::runtime_error("no luck");
  }
  std::string place_;
  ActorId watched_;
};

TEST_F(Actors, FailOfWhatTheyThrowWhereverThatIs) {
  const auto watched = process->spawn<CounterActor>();
  std::vector<std::string> causes;
  process->set_on_death([&](LocalId, const std::string& cause) { causes.push_back(cause); });
  for (const char* place : {"started", "a post", "down"}) {
    process->spawn<ThrowingActor>(place, watched.id);
  }
  pass(1ms);
  EXPECT_THAT(causes,
              testing::UnorderedElementsAre("started threw: no luck", "a post threw: no luck"));
  process->kill(watched.id.local, "killed by the test");
  pass(1ms);
  EXPECT_EQ(causes.back(), "down threw: no luck");
  process->spawn<ThrowingActor>("down", watched.id);  // which is dead
  pass(1ms);
  EXPECT_THAT(causes, testing::SizeIs(5));
  EXPECT_EQ(causes.back(), "down threw: no luck");
  EXPECT_EQ(process->actors(), 0U);
}

TEST_F(Actors, AThrowOfOneThatIsAskedToStopKeepsNoOtherFromIt) {
  const auto watched = process->spawn<CounterActor>();
  std::vector<std::string> causes;
  process->set_on_death([&](LocalId, const std::string& cause) { causes.push_back(cause); });
  process->spawn<ThrowingActor>("stop_requested", watched.id);
  process->spawn<ThrowingActor>("", watched.id);
  process->request_stop();
  pass(1ms);
  EXPECT_THAT(causes, testing::UnorderedElementsAre("", "", "stop_requested threw: no luck"));
}

/// Does in its constructor what is for started().
class HastyActor final : public Actor<Interface<>> {
 public:
  explicit HastyActor(const std::function<void(HastyActor&)>& what) { what(*this); }
  using ActorBase::log;
  using ActorBase::now;
  using ActorBase::run;
  using ActorBase::watch;
  Task<void> nothing() { co_return; }
};

TEST_F(Actors, AreToldThatTheirConstructorIsTooEarly) {
  const std::vector<std::function<void(HastyActor&)>> all = {
      [](HastyActor& self) { self.log("here"); },
      [](HastyActor& self) { (void)self.now(); },
      [](HastyActor& self) { (void)self.self(); },
      [](HastyActor& self) { self.run(self.nothing()); },
      [](HastyActor& self) { self.watch({}); },
  };
  for (const auto& what : all) {
    try {
      process->spawn<HastyActor>(what);
      ADD_FAILURE() << "it is as if it had a process";
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("use started()"));
    }
  }
  EXPECT_EQ(process->actors(), 0U);
}

/// The cause with which an actor fails whose job throws; `caught`: of one that minds it.
std::string of_a_throw_in_a_job(Process& process, std::string& caught) {
  std::string died_of;
  process.set_on_death([&](LocalId, const std::string& cause) { died_of = cause; });
  process.spawn<FreeActor>([&](FreeActor& self) -> Task<void> {
    try {
      auto nothing = self.compute([] { throw std::runtime_error("out of luck"); });
      co_await nothing;
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    auto job = self.compute([]() -> int { throw std::runtime_error("no luck"); });
    co_await job;
  });
  process.loop().run_until([&] { return !died_of.empty(); }, process.loop().now() + 10s);
  return died_of;
}

TEST_F(Actors, AThrowInAJobReachesWhoAwaitsIt) {
  std::string caught;
  EXPECT_EQ(of_a_throw_in_a_job(*process, caught), "a handler threw: no luck");
  EXPECT_EQ(caught, "out of luck");
}

TEST(ActorsOnThreads, AThrowInAJobReachesWhoAwaitsIt) {
  UvLoop loop;
  SeededRandom random(1);
  ThreadExecutor executor(loop, 1, "compute");
  Process alone({loop, random, executor, nullptr, [](std::string_view) {}}, {});
  std::string caught;
  EXPECT_EQ(of_a_throw_in_a_job(alone, caught), "a handler threw: no luck");
  EXPECT_EQ(caught, "out of luck");
}

TEST_F(Actors, StopWhenTheirProcessIsAskedTo) {
  free_actor([](FreeActor& self) -> Task<void> { co_await self.sleep(100s); });
  process->request_stop();
  pass(1ms);
  EXPECT_EQ(process->actors(), 0U);
}

}  // namespace
}  // namespace sterna::test
