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

}  // namespace
}  // namespace sterna::test
