#include "kernels/optimizer/schedule.h"

#include <gtest/gtest.h>

namespace sterna::kernels {
namespace {

LearningRate rate(std::string_view name, const Course& course, const Numbers& values = {}) {
  return find_schedule(name).value().over(course, values);
}

TEST(Schedule, IsFoundByName) {
  EXPECT_FALSE(find_schedule("exponential").value().keys.empty());
  const auto unknown = find_schedule("linear");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "\"linear\" is none of fixed, exponential, polynomial, cosine");
}

TEST(Schedule, FixedNeverChanges) {
  const LearningRate fixed = rate("fixed", {.initial = 0.01});
  EXPECT_EQ(fixed(0), 0.01);
  EXPECT_EQ(fixed(1'000'000'000'000), 0.01);
}

TEST(Schedule, ExponentialIsAStaircase) {
  const LearningRate halved = rate("exponential", {.initial = 0.1, .steps_per_epoch = 50},
                                   {{"decay_factor", 0.5}, {"epochs_per_decay", 2}});
  EXPECT_EQ(halved(0), 0.1);
  EXPECT_EQ(halved(99), 0.1);
  EXPECT_EQ(halved(100), 0.05);
  EXPECT_EQ(halved(399), 0.0125);
  const LearningRate inception = rate("exponential", {.initial = 0.1, .steps_per_epoch = 10},
                                      {{"decay_factor", 0.16}, {"epochs_per_decay", 1}});
  EXPECT_NEAR(inception(57), 0.1 * 0.16 * 0.16 * 0.16 * 0.16 * 0.16, 1e-18);
  EXPECT_GE(inception(~std::uint64_t{0}), 0.0);
}

TEST(Schedule, ExponentialDropsAtMostOnceAStep) {
  const LearningRate steep = rate("exponential", {.initial = 1, .steps_per_epoch = 0.01},
                                  {{"decay_factor", 0.5}, {"epochs_per_decay", 1}});
  EXPECT_EQ(steep(3), 0.125);
}

TEST(Schedule, ExponentialWithMoreStepsToADropThanCanBeCountedNeverDrops) {
  for (const double epochs : {0x1p64, 1e30, 1e300}) {
    const LearningRate flat = rate("exponential", {.initial = 0.1, .steps_per_epoch = 1e9},
                                   {{"decay_factor", 0.5}, {"epochs_per_decay", epochs}});
    EXPECT_EQ(flat(0), 0.1);
    EXPECT_EQ(flat(1'000'000'000), 0.1);
  }
}

TEST(Schedule, PolynomialFallsAsASquareRootToZeroAndStaysThere) {
  const LearningRate root = rate("polynomial", {.initial = 0.01, .steps = 2000},
                                 {{"power", 0.5}, {"end_learning_rate", 0}});
  EXPECT_EQ(root(0), 0.01);
  EXPECT_EQ(root(1500), 0.005);
  EXPECT_NEAR(root(1000), 0.0070710678118654757, 1e-17);
  EXPECT_EQ(root(2000), 0.0);
  EXPECT_EQ(root(5000), 0.0);
}

TEST(Schedule, CosineFallsByHalfAWaveAndStaysThere) {
  const LearningRate wave =
      rate("cosine", {.initial = 0.01, .steps = 2000}, {{"end_learning_rate", 0}});
  EXPECT_EQ(wave(0), 0.01);
  EXPECT_EQ(wave(1000), 0.005);
  EXPECT_EQ(wave(2000), 0.0);
  EXPECT_EQ(wave(5000), 0.0);
}

TEST(Schedule, WarmsUpByTheLineWhileItRuns) {
  const LearningRate root = rate("polynomial", {.initial = 0.01, .steps = 2000},
                                 {{"power", 0.5}, {"end_learning_rate", 0}});
  const LearningRate warm = warmed_up(root, 4);
  EXPECT_EQ(warm(0), root(0) / 4);
  EXPECT_EQ(warm(2), root(2) * 3 / 4);
  for (const std::uint64_t step : {3U, 4U, 1500U}) EXPECT_EQ(warm(step), root(step));
}

}  // namespace
}  // namespace sterna::kernels
