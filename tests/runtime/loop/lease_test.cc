#include "runtime/loop/lease.h"

#include <gtest/gtest.h>

#include "runtime/sim/sim_loop.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A clock that jumps over sleep, beside a loop that does not.
class SleepingClock final : public Clock {
 public:
  explicit SleepingClock(const Clock& loop) : loop_(loop) {}
  Time now() const override { return loop_.now() + slept; }
  Duration slept{};

 private:
  const Clock& loop_;
};

class LeaseTest : public testing::Test {
 protected:
  void pass(Duration time) {
    loop.run_until([] { return false; }, loop.now() + time);
  }
  SimLoop loop;
  SleepingClock clock{loop};
  int lost = 0;
  Lease lease{loop, clock, seconds(10), [this] { ++lost; }};
};

TEST_F(LeaseTest, WithoutAWordItRunsOutOnce) {
  pass(seconds(9));
  EXPECT_EQ(lost, 0);
  pass(seconds(2));
  EXPECT_EQ(lost, 1);
  pass(seconds(60));
  EXPECT_EQ(lost, 1);
}

TEST_F(LeaseTest, EveryWordBeginsItAnew) {
  for (int i = 0; i < 10; ++i) {
    pass(seconds(9));
    lease.renew(clock.now());
  }
  EXPECT_EQ(lost, 0);
}

TEST_F(LeaseTest, ItCountsFromWhenItWasAskedFor) {
  const Time asked = clock.now();
  pass(seconds(9));
  lease.renew(asked + seconds(1));
  lease.renew(asked);  // an earlier answer, later
  pass(milliseconds(1900));
  EXPECT_EQ(lost, 0);
  pass(milliseconds(200));
  EXPECT_EQ(lost, 1);
}

TEST_F(LeaseTest, SleepCounts) {
  pass(seconds(5));
  clock.slept = seconds(3600);
  pass(Duration(1));
  EXPECT_EQ(lost, 1);
}

TEST_F(LeaseTest, AWordThatComesTooLateDoesNotRevive) {
  pass(seconds(5));
  clock.slept = seconds(3600);
  lease.renew(clock.now());  // the first thing that runs after the sleep
  EXPECT_EQ(lost, 1);
  pass(seconds(1));
  lease.renew(clock.now());
  EXPECT_EQ(lost, 1);
}

}  // namespace
}  // namespace sterna::test
