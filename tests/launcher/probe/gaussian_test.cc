#include "launcher/probe/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sterna::launcher {
namespace {

std::vector<float> drawn(std::uint64_t seed) {
  std::vector<float> values(20000);
  fill_gaussian(values, seed);
  return values;
}

TEST(Gaussian, HasMeanZeroAndADeviationOfAHundredth) {
  double sum = 0;
  double squares = 0;
  const std::vector<float> values = drawn(1);
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.0003);  // four standard errors
  EXPECT_NEAR(std::sqrt(squares / count), 0.01, 0.0002);
}

TEST(Gaussian, HasAsManyBeyondTwoDeviationsAsANormalDistribution) {
  std::size_t beyond = 0;
  for (const float value : drawn(1)) beyond += std::abs(value) > 0.02 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(beyond) / 20000, 0.0455, 0.006);
}

TEST(Gaussian, IsAFunctionOfItsSeed) {
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

}  // namespace
}  // namespace sterna::launcher
