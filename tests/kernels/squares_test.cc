#include "kernels/numbers/squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gradients.h"

namespace sterna::kernels {
namespace {

/// The definition, an element at a time.
double by_definition(const std::vector<float>& values) {
  double total = 0;
  for (std::size_t block = 0; block < values.size(); block += kSquaresBlock) {
    std::vector<double> lanes(kSquaresLanes);
    for (std::size_t i = block; i < std::min(values.size(), block + kSquaresBlock); ++i) {
      lanes[i % kSquaresLanes] += std::pow(double{values[i]}, 2);
    }
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    total += sum;
  }
  return total;
}

TEST(Squares, AreAddedInTheOrderOfTheirPage) {
  for (const std::size_t count : {0UL, 1UL, 15UL, 16UL, 17UL, 4095UL, 4096UL, 4097UL, 70'001UL}) {
    const std::vector<float> values = gaussian(count, 0.3F, 5 + count);
    EXPECT_EQ(sum_of_squares(values), by_definition(values)) << count;
  }
}

TEST(Squares, OfTheLargestNumbersAreFinite) {
  const std::vector<float> large(100'000, std::numeric_limits<float>::max());
  const double each = double{large[0]} * double{large[0]};
  EXPECT_NEAR(sum_of_squares(large) / each, 1e5, 1e-6);
  EXPECT_TRUE(std::isinf(sum_of_squares(std::vector{std::numeric_limits<float>::infinity()})));
  EXPECT_TRUE(std::isnan(sum_of_squares(std::vector{1.0F, std::nanf("")})));
}

}  // namespace
}  // namespace sterna::kernels
