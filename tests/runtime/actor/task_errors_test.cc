#include "runtime/actor/task.h"

#include <gtest/gtest.h>

#include "tests/runtime/actor/counter_actor.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;

Task<Result<int>> half(int number) {
  if (number % 2 != 0) co_return Error{Errc::invalid_argument, "odd"};
  co_return number / 2;
}

Task<Result<int>> quarter(int number) {
  STERNA_CO_TRY(half(number));
  STERNA_CO_ASSIGN(const int halved, half(number));
  STERNA_CO_ASSIGN(const int quartered, half(halved));
  const Result<int> same = quartered;
  STERNA_CO_TRY(same);
  co_return quartered;
}

/// Asks slow questions as its test says, and keeps what it heard.
class AskingActor final : public Actor<Interface<>> {
 public:
  AskingActor(ActorRef<Counter> counter, std::vector<Result<int>>& heard)
      : counter_(counter), heard_(heard) {}

  void ask_two_at_once() { run(two_at_once()); }
  void ask_what_fails() { run(what_fails()); }

 private:
  void started() override { run(quarters()); }
  Task<void> quarters() {
    for (const int number : {12, 7, 6}) heard_.push_back(co_await quarter(number));
  }
  Task<Result<int>> slow(int answer) {
    STERNA_CO_TRY(ask(counter_, Slow{1s}, 5s));
    co_return answer;
  }
  Task<void> two_at_once() {
    Task<Result<int>> first = slow(1);
    Task<Result<int>> second = slow(2);
    first.start();
    second.start();
    co_await sleep(3s);
    heard_.push_back(co_await first);
    heard_.push_back(co_await second);
  }
  Task<Result<void>> what_fails() {
    STERNA_CO_TRY(ask(counter_, Slow{1s}, 5s));
    STERNA_CO_TRY(ask(counter_, Boom{}, 1s));
    ADD_FAILURE() << "an error goes on";
    co_return Result<void>{};
  }

  ActorRef<Counter> counter_;
  std::vector<Result<int>>& heard_;
};

class TaskErrorsTest : public SimFixture {
 protected:
  TaskErrorsTest() {
    process.set_on_death([this](LocalId, const std::string& cause) { deaths.push_back(cause); });
    actor = process.spawn<AskingActor>(process.spawn<CounterActor>(), heard).id.local;
    pass(1ms);
  }
  AskingActor& asking() { return *static_cast<AskingActor*>(process.find(actor)); }

  Process& process = *start("a").process;
  std::vector<Result<int>> heard;
  std::vector<std::string> deaths;
  LocalId actor;
};

TEST_F(TaskErrorsTest, AnErrorEndsACoroutineAndAValueGoesOn) {
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(*heard[0], 3);
  EXPECT_EQ(heard[1].error().message, "odd");
  EXPECT_EQ(heard[2].error().message, "odd");
}

TEST_F(TaskErrorsTest, StartedOnesAreUnderWayTogetherAndMayBeDoneBeforeTheyAreAwaited) {
  heard.clear();
  asking().ask_two_at_once();
  pass(3s);
  ASSERT_EQ(heard.size(), 2U);  // one after the other would take 5 s
  EXPECT_EQ(*heard[0], 1);
  EXPECT_EQ(*heard[1], 2);
}

TEST_F(TaskErrorsTest, OneThatEndsInAnErrorFailsTheActorThatRunsIt) {
  asking().ask_what_fails();
  pass(2s);
  ASSERT_EQ(deaths.size(), 1U);
  EXPECT_EQ(deaths[0], "refused to boom");
}

}  // namespace
}  // namespace sterna::test
