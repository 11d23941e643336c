#include "runtime/actor/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/runtime/actor/detached.h"

namespace sterna::test {
namespace {

/// Waits until it is resumed by hand.
struct Gate {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
  void await_resume() const noexcept {}
  std::coroutine_handle<> waiter;
};

Task<int> seven(Gate& gate) {
  co_await gate;
  co_return 7;
}
Task<int> doubled(Gate& gate) {
  const int value = co_await seven(gate);
  co_return 2 * value;
}
Task<void> broken(Gate& gate) {
  co_await gate;
  throw std::runtime_error("broken");
}
Detached run(Gate& gate, int& result) { result = co_await doubled(gate); }
Detached survive(Gate& gate, std::string& said) {
  try {
    co_await broken(gate);
  } catch (const std::exception& error) {
    said = error.what();
  }
}

TEST(Task, DoesNothingUntilItIsAwaited) {
  Gate gate;
  { const Task<int> task = seven(gate); }
  EXPECT_FALSE(gate.waiter);
}

TEST(Task, AValueComesUpThroughThoseWhoAwaitIt) {
  Gate gate;
  int result = 0;
  const Detached root = run(gate, result);
  EXPECT_FALSE(root.done());
  gate.waiter.resume();
  EXPECT_TRUE(root.done());
  EXPECT_EQ(result, 14);
}

TEST(Task, AnExceptionComesOutWhereItIsAwaited) {
  Gate gate;
  std::string said;
  const Detached root = survive(gate, said);
  gate.waiter.resume();
  EXPECT_TRUE(root.done());
  EXPECT_EQ(said, "broken");
}

Task<void> holding(std::shared_ptr<int> held, Gate& gate) {
  co_await gate;
  *held = 1;
}
Task<void> holding_more(std::shared_ptr<int> held, Gate& gate) {
  co_await holding(std::move(held), gate);
}
Detached hold(std::shared_ptr<int> held, Gate& gate) {
  co_await holding_more(std::move(held), gate);
}

TEST(Task, TheEndOfTheOutermostDestroysAllThatItWaitedIn) {
  Gate gate;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = held;
  { const Detached root = hold(std::move(held), gate); }
  EXPECT_TRUE(watch.expired());
}

Detached await(Task<int>& task, int& result) { result = co_await task; }
Detached await(Task<void>& task, bool& done) {
  co_await task;
  done = true;
}

TEST(Task, WhoIsDestroyedAsItWaitsLeavesItToTheNext) {
  for (const bool started : {true, false}) {
    Gate gate;
    Task<int> task = seven(gate);
    if (started) task.start();
    int result = 0;
    { const Detached gone = await(task, result); }
    EXPECT_TRUE(gate.waiter);
    const Detached next = await(task, result);
    EXPECT_FALSE(next.done());
    gate.waiter.resume();
    EXPECT_TRUE(next.done());
    EXPECT_EQ(result, 7);
  }
}

TEST(Task, GoesOnWhereNobodyWaitsAnyMore) {
  Gate gate;
  Task<int> task = seven(gate);
  task.start();
  int result = 0;
  { const Detached gone = await(task, result); }
  gate.waiter.resume();
  EXPECT_EQ(result, 0);
  const Detached late = await(task, result);
  EXPECT_EQ(result, 7);
}

TEST(Task, ThatIsDestroyedIsAwaitedForEverAndHarmsNobody) {
  Gate gate;
  std::optional<Task<int>> task = seven(gate);
  int result = 0;
  const Detached waits = await(*task, result);
  task.reset();
  EXPECT_FALSE(waits.done());
}

TEST(Task, MovesWhileSomebodyAwaitsIt) {
  Gate gate;
  Task<int> task = seven(gate);
  int result = 0;
  const Detached waits = await(task, result);
  const Task<int> moved = std::move(task);
  gate.waiter.resume();
  EXPECT_EQ(result, 7);
}

Task<void> passing(Gate& gate) { co_await gate; }

TEST(Task, WithoutAValueIsOverForWhoeverAsks) {
  Gate gate;
  Task<void> task = passing(gate);
  task.start();
  gate.waiter.resume();
  for (int i = 0; i < 2; ++i) {
    bool done = false;
    const Detached asks = await(task, done);
    EXPECT_TRUE(done);
  }
}

TEST(TaskDeathTest, WhoAwaitsWhatAnotherAwaitsOrWhatIsNotThereEndsTheProgram) {
  Gate gate;
  Task<int> task = seven(gate);
  int result = 0;
  const Detached first = await(task, result);
  EXPECT_DEATH((void)await(task, result), "sterna: two coroutines await one Task");
  EXPECT_DEATH(task.start(), "sterna: a Task is started that runs already");
  gate.waiter.resume();
  EXPECT_DEATH((void)await(task, result), "sterna: the value of a Task is awaited twice");
  const Task<int> moved = std::move(task);
  EXPECT_DEATH((void)await(task, result),  // NOLINT(bugprone-use-after-move)
               "sterna: a Task is awaited, or started, that has moved away");
  EXPECT_DEATH(task.start(), "sterna: a Task is awaited, or started, that has moved away");
}

TEST(TaskDeathTest, WhoStartsItTwiceEndsTheProgram) {
  Gate gate;
  Task<int> task = seven(gate);
  task.start();
  EXPECT_DEATH(task.start(), "sterna: a Task is started that runs already");
}

}  // namespace
}  // namespace sterna::test
