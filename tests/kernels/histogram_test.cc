#include "kernels/numbers/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace sterna::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Where the definition puts it, by frexp: exponents by halving, eighths by the mantissa.
std::int32_t bucket_by_definition(float value) {
  const double magnitude = std::fabs(double{value});
  if (magnitude < std::ldexp(1.0, -129)) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  const bool denormal = exponent - 1 < -126;
  const auto eighths = denormal ? static_cast<std::int32_t>(std::ldexp(magnitude, 129))
                                : static_cast<std::int32_t>((mantissa - 0.5) * 16);
  const std::int32_t bucket = denormal ? eighths : (exponent + 126) * 8 + eighths;
  return value < 0 ? -bucket : bucket;
}

std::vector<float> random_values(std::size_t count, double scale) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(normal(random));
  return values;
}

TEST(Histogram, CountsEachElementWhereItsMagnitudeLies) {
  for (const double scale : {1e-42, 1e-38, 1e-3, 1.0, 1e30}) {
    const std::vector<float> values = random_values(10'001, scale);
    Histogram histogram;
    histogram.add(values);
    std::map<std::int32_t, std::uint64_t> expected;
    for (const float value : values) {
      const std::int32_t bucket = bucket_by_definition(value);
      ++expected[bucket];
      const Magnitudes magnitudes = magnitudes_of(bucket);
      EXPECT_GE(std::fabs(value), magnitudes.low);
      EXPECT_LT(std::fabs(value), magnitudes.high);
    }
    std::map<std::int32_t, std::uint64_t> counted;
    for (const auto& [bucket, count] : histogram.buckets()) counted[bucket] = count;
    EXPECT_EQ(counted, expected) << scale;
  }
}

TEST(Histogram, KnowsTheMomentsOfWhatItCounts) {
  const std::vector<float> values = random_values(9'999, 0.5);
  Histogram histogram;
  histogram.add(std::span(values).first(4'001));
  histogram.add(std::span(values).subspan(4'001));
  double sum = 0, squares = 0, magnitudes = 0;
  double least = kInfinity, most = -kInfinity;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    magnitudes += std::fabs(value);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_NEAR(histogram.sum(), sum, 1e-12 * magnitudes);
  EXPECT_NEAR(histogram.sum_of_squares(), squares, 1e-12 * squares);
  EXPECT_EQ(histogram.least(), least);
  EXPECT_EQ(histogram.most(), most);
}

TEST(Histogram, BothZerosAreOneAndWhatIsNotFiniteIsCountedApart) {
  const std::vector<float> values = {0.0F,
                                     -0.0F,
                                     kInfinity,
                                     -kInfinity,
                                     std::numeric_limits<float>::quiet_NaN(),
                                     -2.0F,
                                     std::numeric_limits<float>::max()};
  Histogram histogram;
  histogram.add(values);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.non_finite(), 3U);
  EXPECT_EQ(histogram.least(), -2.0);
  EXPECT_EQ(histogram.most(), std::numeric_limits<float>::max());
  const auto two = bucket_by_definition(2.0F);
  const auto last = static_cast<std::int32_t>(kHistogramMagnitudes) - 1;
  EXPECT_EQ(histogram.buckets(), (std::vector<Histogram::Counted>{{-two, 1}, {0, 2}, {last, 1}}));
  EXPECT_EQ(magnitudes_of(last).high, std::ldexp(1.0, 128));
}

TEST(Histogram, OfNothingHasNoBuckets) {
  Histogram histogram;
  histogram.add({});
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_TRUE(histogram.buckets().empty());
}

}  // namespace
}  // namespace sterna::kernels
