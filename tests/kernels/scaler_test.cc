#include "kernels/trits/scaler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "gradients.h"

namespace sterna::kernels {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

double sigma_of(std::span<const float> g) {
  double mean = 0;
  for (const float x : g) mean += x;
  mean /= static_cast<double>(g.size());
  double variance = 0;
  for (const float x : g) variance += (x - mean) * (x - mean);
  return std::sqrt(variance / static_cast<double>(g.size()));
}

TEST(Scaler, IsClipTimesTheStandardDeviationAroundTheMean) {
  auto g = gaussian(100'003, 0.01F, 1);
  for (float& x : g) x += 0.02F;  // the mean must come off
  for (const Isa isa : every_isa()) {
    EXPECT_NEAR(*scaler(g, 2.5F, isa), 2.5 * sigma_of(g), 1e-6 * 2.5 * sigma_of(g)) << name(isa);
  }
}

TEST(Scaler, IsTheLargestMagnitudeWithoutClipping) {
  auto g = gaussian(1000, 1.0F, 2);
  g[637] = -7.25F;
  for (const Isa isa : every_isa()) {
    EXPECT_EQ(*scaler(g, 0.0F, isa), 7.25F);
    EXPECT_EQ(*scaler(g, 1e-5F, isa), 7.25F) << "1e-5 itself is still off";
    EXPECT_NE(*scaler(g, 1.1e-5F, isa), 7.25F);
  }
}

TEST(Scaler, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t n : lengths()) {
    const auto g = gaussian(n + 1, 0.3F, n);
    const auto wild = any_finite(n + 1, n);
    for (const Isa isa : every_isa()) {
      for (const std::size_t offset : {0, 1}) {  // at any alignment of a float
        const auto part = std::span(g).subspan(offset, n);
        EXPECT_EQ(*scaler(part, 2.5F, isa), *scaler(part, 2.5F, Isa::scalar)) << n;
        const auto wild_part = std::span(wild).subspan(offset, n);
        EXPECT_EQ(*scaler(wild_part, 0, isa), *scaler(wild_part, 0, Isa::scalar)) << n;
      }
    }
  }
}

TEST(Scaler, OfNothingOrOfZerosOrOfEqualElementsIsZero) {
  const std::vector<float> zeros(5000, 0.0F);
  const std::vector<float> equal(4096, 0.5F);
  for (const Isa isa : every_isa()) {
    EXPECT_EQ(*scaler({}, 2.5F, isa), 0.0F);
    EXPECT_EQ(*scaler({}, 0, isa), 0.0F);
    EXPECT_EQ(*scaler(zeros, 2.5F, isa), 0.0F);
    EXPECT_EQ(*scaler(zeros, 0, isa), 0.0F);
    EXPECT_EQ(*scaler(equal, 2.5F, isa), 0.0F);
  }
}

TEST(Scaler, KeepsDenormals) {
  std::vector<float> g(100, 0.0F);
  g[99] = -0x1p-149F;
  for (const Isa isa : every_isa()) EXPECT_EQ(*scaler(g, 0, isa), 0x1p-149F);
}

TEST(Scaler, RefusesWhatIsNotFiniteAndNamesTheElement) {
  for (const float bad : {infinity, -infinity, nan, -nan}) {
    for (const std::size_t place : {0U, 15U, 4095U, 4096U, 5002U}) {
      auto g = gaussian(5003, 1.0F, 3);
      g[place] = bad;
      for (const Isa isa : every_isa()) {
        for (const float clip : {0.0F, 2.5F}) {
          const auto s = scaler(g, clip, isa);
          ASSERT_FALSE(s.ok());
          EXPECT_EQ(s.error().code, Errc::non_finite);
          EXPECT_NE(s.error().message.find("element " + std::to_string(place)), std::string::npos);
        }
      }
    }
  }
}

TEST(Scaler, SaysThatTheClipMakesItOverflowWhereTheGradientDoesNot) {
  const std::vector<float> g{1e3F, -1e3F};
  for (const Isa isa : every_isa()) {
    const auto s = scaler(g, 1e37F, isa);
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.error().message,
              "the gradient's standard deviation 1000 times the clip 1e+37 overflows fp32; a "
              "smaller gradient.clip helps");
  }
}

TEST(Scaler, RefusesSquaresThatOverflow) {
  const std::vector<float> g{1e20F, -1e20F};
  for (const Isa isa : every_isa()) {
    EXPECT_EQ(scaler(g, 2.5F, isa).error().code, Errc::non_finite);
    EXPECT_EQ(*scaler(g, 0, isa), 1e20F);
  }
}

}  // namespace
}  // namespace sterna::kernels
