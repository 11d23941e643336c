// Who may have how much under way: in order, never more than the window, and nobody is forgotten.
#include "runtime/actor/byte_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "runtime/actor/process.h"
#include "tests/runtime/actor/detached.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class Owner final : public Actor<Interface<>> {
 public:
  explicit Owner(std::optional<ByteWindow>& window) : window_(window) {}

 private:
  void started() override { window_.emplace(poster(), 100); }
  std::optional<ByteWindow>& window_;
};

class ByteWindowTest : public SimFixture {
 protected:
  ByteWindowTest() { owner = process.spawn<Owner>(window).id; }

  /// Takes a share, says so, and keeps it until the frame is destroyed.
  Detached hold(std::uint64_t bytes, int who) {
    auto free = window->take(bytes);
    const ByteWindow::Share share = co_await free;
    taken.push_back(who);
    co_await never.wait();
  }

  Process& process = *start("a").process;
  std::optional<ByteWindow> window;
  ActorId owner;
  Condition never;
  std::vector<int> taken;
};

TEST_F(ByteWindowTest, LetsInWhatFitsAndTheOthersInOrderAsRoomIsMade) {
  std::optional<Detached> first = hold(60, 1);
  std::optional<Detached> second = hold(40, 2);
  const Detached third = hold(50, 3);
  const Detached fourth = hold(10, 4);
  EXPECT_THAT(taken, ElementsAre(1, 2));
  second.reset();
  EXPECT_THAT(taken, ElementsAre(1, 2));  // not from within the task that gave back
  pass(1ms);
  EXPECT_THAT(taken, ElementsAre(1, 2));  // the fourth would fit, and is not before the third
  first.reset();
  pass(1ms);
  EXPECT_THAT(taken, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(window->taken(), 60U);
}

TEST_F(ByteWindowTest, WhatIsLargerThanTheWindowHasItAlone) {
  std::optional<Detached> small = hold(1, 1);
  const Detached huge = hold(1000, 2);
  EXPECT_THAT(taken, ElementsAre(1));
  small.reset();
  pass(1ms);
  EXPECT_THAT(taken, ElementsAre(1, 2));
  EXPECT_EQ(window->taken(), 100U);
}

TEST_F(ByteWindowTest, WhoGivesUpWaitingHoldsNobodyUp) {
  const Detached first = hold(60, 1);
  std::optional<Detached> second = hold(50, 2);
  const Detached third = hold(40, 3);
  second.reset();
  pass(1ms);
  EXPECT_THAT(taken, ElementsAre(1, 3));
}

TEST_F(ByteWindowTest, MayGoBeforeItsSharesAndBeforeWhoWaits) {
  std::optional<Detached> first = hold(100, 1);
  std::optional<Detached> second = hold(100, 2);
  const Detached third = hold(100, 3);
  second.reset();  // the loop is asked to let others in
  window.emplace(process.poster(owner.local), 100);
  first.reset();
  pass(1ms);
  EXPECT_EQ(window->taken(), 0U);
  EXPECT_THAT(taken, ElementsAre(1));
  const Detached fourth = hold(100, 4);
  EXPECT_THAT(taken, ElementsAre(1, 4));
  EXPECT_EQ(window->taken(), 100U);
}

TEST_F(ByteWindowTest, MayBeDestroyedByWhoGoesOn) {
  const auto end = [this]() -> Detached {
    auto free = window->take(60);
    { const ByteWindow::Share share = co_await free; }
    window.reset();
    taken.push_back(2);
  };
  std::optional<Detached> first = hold(100, 1);
  const Detached second = end();
  const Detached third = hold(10, 3);
  first.reset();
  pass(1ms);
  EXPECT_THAT(taken, ElementsAre(1, 2));
}

TEST_F(ByteWindowTest, NobodyGoesOnForAnActorThatIsDead) {
  std::optional<Detached> first = hold(100, 1);
  const Detached second = hold(100, 2);
  process.kill(owner.local, "killed by the test");
  pass(1ms);
  first.reset();
  pass(1ms);
  EXPECT_THAT(taken, ElementsAre(1));
}

}  // namespace
}  // namespace sterna::test
