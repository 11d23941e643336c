// What a task may wait for besides another task: a condition, a time, an answer.
#include "runtime/actor/future.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/runtime/actor/detached.h"
#include "tests/runtime/message/test_messages.h"

namespace sterna::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Detached wait_once(Condition& condition, std::vector<int>& woken, int who) {
  co_await condition.wait();
  woken.push_back(who);
}
Detached wait_twice(Condition& condition, std::vector<int>& woken, int who) {
  co_await condition.wait();
  woken.push_back(who);
  co_await condition.wait();
  woken.push_back(who);
}

TEST(Condition, WakesEveryoneInTheOrderOfWaiting) {
  Condition condition;
  std::vector<int> woken;
  const Detached first = wait_once(condition, woken, 1);
  const Detached second = wait_once(condition, woken, 2);
  EXPECT_THAT(woken, IsEmpty());
  condition.notify_all();
  EXPECT_THAT(woken, ElementsAre(1, 2));
  condition.notify_all();
  EXPECT_THAT(woken, ElementsAre(1, 2));
}

TEST(Condition, WhoWaitsAgainWaitsForTheNextNotification) {
  Condition condition;
  std::vector<int> woken;
  const Detached waiter = wait_twice(condition, woken, 1);
  condition.notify_all();
  EXPECT_THAT(woken, ElementsAre(1));
  condition.notify_all();
  EXPECT_THAT(woken, ElementsAre(1, 1));
}

TEST(Condition, WhoIsGoneIsNotWoken) {
  Condition condition;
  std::vector<int> woken;
  std::optional<Detached> first = wait_once(condition, woken, 1);
  const Detached second = wait_once(condition, woken, 2);
  first.reset();
  condition.notify_all();
  EXPECT_THAT(woken, ElementsAre(2));
}

/// Puts another condition in the place of the one that it has waited for, and waits for that.
Detached replace(std::optional<Condition>& condition, std::vector<int>& woken, int who) {
  co_await condition->wait();
  condition.emplace();
  co_await condition->wait();
  woken.push_back(who);
}

TEST(Condition, MayBeDestroyedByWhoGoesOn) {
  std::optional<Condition> condition(std::in_place);
  std::vector<int> woken;
  const Detached first = replace(condition, woken, 1);
  const Detached behind = wait_once(*condition, woken, 2);
  condition->notify_all();
  EXPECT_THAT(woken, IsEmpty());
  condition->notify_all();
  EXPECT_THAT(woken, ElementsAre(1));
  EXPECT_FALSE(behind.done());
}

Detached sleep_until(Timers& timers, Time until, bool& awake) {
  co_await Sleep(timers, until);
  awake = true;
}

TEST(Sleep, EndsAtItsTimeAndLeavesNoTimerIfItEndsEarlier) {
  Timers timers;
  bool awake = false;
  {
    const Detached sleeper = sleep_until(timers, {10}, awake);
    timers.fire({9}, 10);
    EXPECT_FALSE(awake);
    timers.fire({10}, 10);
    EXPECT_TRUE(awake);
  }
  { const Detached sleeper = sleep_until(timers, {20}, awake); }
  EXPECT_EQ(timers.armed(), 0U);
}

TEST(Future, ThatHasFailedBeforeItBeganSaysWhy) {
  Future<Total> future(Error{Errc::overloaded, "full"});
  ASSERT_TRUE(future.ready());
  future.cancel();  // too late to matter
  EXPECT_EQ(future.take().error().message, "full");
}

void answer(Future<Total>& future, std::int64_t value) {
  MessageMail<Total> mail(Total{value});
  future.answer(mail);
}

Detached await(Future<Total>& future) { (void)co_await future; }

TEST(FutureDeathTest, WhoAwaitsWhatAnotherAwaitsEndsTheProgram) {
  Future<Total> future;
  const Detached first = await(future);
  EXPECT_DEATH((void)await(future), "sterna: two coroutines await one Future");
}

TEST(Future, WhoIsDestroyedAsItWaitsLeavesItToTheNext) {
  Future<Total> future;
  { const Detached gone = await(future); }
  const Detached next = await(future);
  EXPECT_FALSE(next.done());
  future.cancel();
  EXPECT_TRUE(next.done());
}

Detached await_both(Future<Total>& first, Future<Total>& second, std::int64_t& sum) {
  sum = (co_await first)->value + (co_await second)->value;
}

TEST(Future, MovesAndEndsWhileSomebodyAwaitsIt) {
  auto future = std::make_unique<Future<Total>>();
  std::optional<Future<Total>> second(std::in_place);
  std::int64_t sum = 0;
  const Detached waits = await_both(*future, *second, sum);
  Future<Total> moved = std::move(*future);
  future.reset();
  answer(moved, 3);
  moved = {};  // nobody awaits it any more
  EXPECT_EQ(sum, 0);
  answer(*second, 4);
  EXPECT_EQ(sum, 7);
  EXPECT_TRUE(waits.done());
}

TEST(Future, ThatIsDestroyedIsAwaitedForEverAndHarmsNobody) {
  auto future = std::make_unique<Future<Total>>();
  const Detached waits = await(*future);
  future.reset();
  EXPECT_FALSE(waits.done());
}

TEST(Future, ThatHasMovedAwayHasNothing) {
  Future<Total> from(Error{Errc::overloaded, "full"});
  Future<Total> to = std::move(from);
  EXPECT_FALSE(from.ready());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(to.take().error().message, "full");
  to = Future<Total>(Error{Errc::deadline, "late"});
  EXPECT_EQ(to.take().error().message, "late");
}

TEST(FutureDeathTest, WhoTakesWhatIsTakenOrNotThereEndsTheProgram) {
  Future<Total> none;
  EXPECT_DEATH((void)none.take(), "sterna: .* before it is ready");
  Future<Total> failed(Error{Errc::overloaded, "full"});
  EXPECT_FALSE(failed.take().ok());
  EXPECT_DEATH((void)await(failed), "sterna: .* taken, or awaited, twice");
}

TEST(Future, OfAnEmptyAnswerExpectsNoBody) {
  EXPECT_EQ(Future<void>().reply_type(), nullptr);
  EXPECT_EQ(Future<Total>().reply_type(), &kMessageType<Total>);
}

}  // namespace
}  // namespace sterna::test
