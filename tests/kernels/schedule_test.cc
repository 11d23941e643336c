#include "kernels/optimizer/schedule.h"

#include <gtest/gtest.h>

namespace sterna::kernels {
namespace {

TEST(Schedule, FixedNeverChanges) {
  const Schedule schedule{.policy = Policy::fixed, .initial = 0.01};
  EXPECT_EQ(learning_rate(schedule, 0), 0.01);
  EXPECT_EQ(learning_rate(schedule, 1'000'000'000'000), 0.01);
}

TEST(Schedule, ExponentialIsAStaircase) {
  const Schedule schedule{
      .policy = Policy::exponential, .initial = 0.1, .decay_factor = 0.5, .decay_steps = 100};
  EXPECT_EQ(learning_rate(schedule, 0), 0.1);
  EXPECT_EQ(learning_rate(schedule, 99), 0.1);
  EXPECT_EQ(learning_rate(schedule, 100), 0.05);
  EXPECT_EQ(learning_rate(schedule, 399), 0.0125);
  const Schedule inception{
      .policy = Policy::exponential, .initial = 0.1, .decay_factor = 0.16, .decay_steps = 10};
  EXPECT_NEAR(learning_rate(inception, 57), 0.1 * 0.16 * 0.16 * 0.16 * 0.16 * 0.16, 1e-18);
  EXPECT_GE(learning_rate(inception, ~std::uint64_t{0}), 0.0);
}

TEST(Schedule, PolynomialFallsAsASquareRootToZeroAndStaysThere) {
  const Schedule schedule{.policy = Policy::polynomial, .initial = 0.01, .max_steps = 2000};
  EXPECT_EQ(learning_rate(schedule, 0), 0.01);
  EXPECT_EQ(learning_rate(schedule, 1500), 0.005);
  EXPECT_NEAR(learning_rate(schedule, 1000), 0.0070710678118654757, 1e-17);
  EXPECT_EQ(learning_rate(schedule, 2000), 0.0);
  EXPECT_EQ(learning_rate(schedule, 5000), 0.0);
}

TEST(Schedule, PolynomialTakesOtherPowers) {
  const Schedule schedule{.policy = Policy::polynomial, .initial = 2, .max_steps = 4, .power = 1};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1), 1.5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.5);
}

}  // namespace
}  // namespace sterna::kernels
