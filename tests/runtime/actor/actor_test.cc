// What an actor may do: wait, compute elsewhere, be posted to, have children, and end.
#include "runtime/actor/actor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(Actors, ComputeElsewhereAndGoOnWithTheResult) {
  std::string result;
  free_actor([&](FreeActor& self) -> Task<void> {
    auto job = self.compute([] { return std::string(100, 'r'); });
    result = co_await std::move(job);
    auto nothing = self.compute([] {});
    co_await std::move(nothing);
    result += "!";
  });
  pass(1ms);
  EXPECT_EQ(result, std::string(100, 'r') + "!");
}

TEST_F(Actors, WhoDiesWhileAJobRunsIsNotResumed) {
  bool resumed = false;
  const LocalId actor = free_actor([&](FreeActor& self) -> Task<void> {
    auto job = self.compute([] {});
    co_await std::move(job);
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

TEST_F(Actors, StopWhenTheirProcessIsAskedTo) {
  free_actor([](FreeActor& self) -> Task<void> { co_await self.sleep(100s); });
  process->request_stop();
  pass(1ms);
  EXPECT_EQ(process->actors(), 0U);
}

}  // namespace
}  // namespace sterna::test
