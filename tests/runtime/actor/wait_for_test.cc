#include "runtime/actor/wait_for.h"

#include <gtest/gtest.h>

#include "tests/runtime/actor/detached.h"

namespace sterna::test {
namespace {

Detached wait(Condition& condition, Timers& timers, Time until, int& woken) {
  co_await wait_for(condition, timers, until);
  ++woken;
}

TEST(WaitFor, ANotificationEndsItAndDisarmsTheTimer) {
  Condition condition;
  Timers timers;
  int woken = 0;
  const Detached waiter = wait(condition, timers, {10}, woken);
  EXPECT_EQ(timers.armed(), 1U);
  condition.notify_all();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(timers.armed(), 0U);
}

TEST(WaitFor, ItsTimeEndsItAndNoNotificationResumesItAgain) {
  Condition condition;
  Timers timers;
  int woken = 0;
  const Detached waiter = wait(condition, timers, {10}, woken);
  timers.fire({10}, 10);
  EXPECT_EQ(woken, 1);
  condition.notify_all();
  EXPECT_EQ(woken, 1);
}

TEST(WaitFor, WhoIsGoneLeavesNothingBehind) {
  Condition condition;
  Timers timers;
  int woken = 0;
  { const Detached waiter = wait(condition, timers, {10}, woken); }
  EXPECT_EQ(timers.armed(), 0U);
  condition.notify_all();
  EXPECT_EQ(woken, 0);
}

}  // namespace
}  // namespace sterna::test
