#include "kernels/random/initializer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gradients.h"

namespace sterna::kernels {
namespace {

std::vector<float> drawn(std::size_t n, float stddev, std::uint64_t seed, std::uint32_t tensor) {
  std::vector<float> values(n);
  truncated_normal(values, stddev, seed, tensor);
  return values;
}

// Moments of a unit normal cut at 2: variance 1 - 2 a phi(a) / (2 Phi(a) - 1) = 0.77374, fourth
// moment 3 m2 - 8 * 2 phi(2) / (2 Phi(2) - 1) = 1.4161.
TEST(TruncatedNormal, HasTheMomentsOfItsDistribution) {
  constexpr std::size_t n = 400'000;
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  double within = 0;
  for (const float value : drawn(n, 0.1F, 123, 4)) {
    const double x = value / 0.1;
    ASSERT_LE(std::fabs(x), 2.000001);
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
    within += std::fabs(x) < 1 ? 1 : 0;
  }
  EXPECT_NEAR(sum / n, 0, 4 * 0.88 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 0.77374, 0.006);
  EXPECT_NEAR(fourths / n, 1.4161, 0.02);
  EXPECT_NEAR(within / n, 0.68269 / 0.95450, 0.003);
}

TEST(TruncatedNormal, IsAFunctionOfSeedAndTensor) {
  const auto values = drawn(1000, 0.1F, 1, 2);
  EXPECT_EQ(bits(drawn(1000, 0.1F, 1, 2)), bits(values));
  EXPECT_NE(bits(drawn(1000, 0.1F, 2, 2)), bits(values));
  EXPECT_NE(bits(drawn(1000, 0.1F, 1, 3)), bits(values));
  const auto longer = drawn(2000, 0.1F, 1, 2);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), longer.begin()));
}

}  // namespace
}  // namespace sterna::kernels
