#include "runtime/base/clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace sterna {
namespace {

using namespace std::chrono_literals;

TEST(Time, IsAPointAndDurationsAreBetweenPoints) {
  constexpr Time kStart{100};
  EXPECT_EQ(kStart + 5ns, Time{105});
  EXPECT_EQ(Time{105} - kStart, 5ns);
  EXPECT_LT(kStart, Time{105});
  EXPECT_EQ(in_seconds(1500ms), 1.5);
}

TEST(Time, BeyondTheLastThereIsNone) {
  constexpr Time kLast{std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(Time{100} + Duration::max(), kLast);
  EXPECT_EQ(kLast + 1ns, kLast);
  EXPECT_EQ(Time{0} + Duration::max(), kLast);
  EXPECT_EQ(kLast + -5ns, Time{kLast.ns - 5});
}

TEST(BootClock, CountsTheMachinesSleepToo) {
  const Time awake = SteadyClock().now();
  EXPECT_GE(BootClock().now(), awake);  // both began when the machine was started
}

TEST(SteadyClock, NeverGoesBack) {
  const SteadyClock clock;
  const Time before = clock.now();
  EXPECT_GE(clock.now(), before);
}

}  // namespace
}  // namespace sterna
