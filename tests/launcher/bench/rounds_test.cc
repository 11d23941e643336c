#include "launcher/bench/rounds.h"

#include <gtest/gtest.h>

#include "launcher/bench/memory_speed.h"

namespace sterna::launcher {
namespace {

TEST(Rounds, AreInTurnAfterOneThatDoesNotCount) {
  std::string order;
  RoundTimes::measure({{"a", [&] { order += 'a'; }}, {"b", [&] { order += 'b'; }}}, 3);
  EXPECT_EQ(order, "abababab");
}

TEST(Rounds, OfOneContenderWithItselfHaveTheRatioOne) {
  // Something that takes longer than the clock's grain.
  const auto work = [] {
    for (int i = 0; i < 100000; ++i) keep(i);
  };
  const RoundTimes times = RoundTimes::measure({{"a", work}}, 3);
  EXPECT_EQ(times.ratio("a", "a"), 1);
  EXPECT_EQ(times.ratio_of_ratios("a", "a", "a", "a"), 1);
  EXPECT_GT(times.seconds("a"), 0);
}

TEST(RepeatedSeconds, AreOfRoundsOfRepeatsAfterOneRunThatDoesNotCount) {
  int runs = 0;
  repeated_seconds([&] { ++runs; }, 5, 3);
  EXPECT_EQ(runs, 16);
}

}  // namespace
}  // namespace sterna::launcher
