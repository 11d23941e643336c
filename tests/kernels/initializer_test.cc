#include "kernels/random/initializer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gradients.h"
#include "kernels/random/philox.h"

namespace sterna::kernels {
namespace {

std::vector<float> drawn(std::size_t n, float stddev, std::uint64_t seed, std::uint32_t tensor) {
  std::vector<float> values(n);
  truncated_normal(values, stddev, {seed, tensor}, best_isa());
  return values;
}

// What kernels/trits/TRITS.md says, with the C library's exponential, which differs from the page's
// in the last bits: of a few hundred thousand draws none is that near.
float by_the_page(std::uint32_t element, std::uint64_t seed, std::uint32_t tensor) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto words = philox({element, attempt, tensor, 2}, seed);
    for (std::size_t i = 0; i < 4; i += 2) {
      const double x = (words[i] + 0.5) * 0x1p-30 - 2;
      if (words[i + 1] * 0x1p-32 < std::exp(-x * x / 2)) return static_cast<float>(x * 0.1F);
    }
  }
}

TEST(TruncatedNormal, IsWhatThePageSaysOnEveryInstructionSetFromAnyElementOn) {
  constexpr std::uint32_t kFirst = 4'000'000'000U;
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) continue;
    std::vector<float> values(200'003);
    truncated_normal(values, 0.1F, {.seed = 77, .tensor = 5, .first = kFirst}, isa);
    std::vector<float> expected;
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      expected.push_back(by_the_page(kFirst + i, 77, 5));
    }
    EXPECT_EQ(bits(values), bits(expected)) << name(isa);
  }
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

float uniform_by_the_page(std::uint32_t element, std::uint64_t seed, std::uint32_t tensor) {
  const auto word = philox({element / 4, 0, tensor, 2}, seed)[element % 4];
  return static_cast<float>(((word + 0.5) * 0x1p-31 - 1) * double{0.1F});
}

TEST(Uniform, IsWhatThePageSaysOnEveryInstructionSetFromAnyElementOnAndForAnyLength) {
  std::vector<float> expected;
  constexpr std::uint32_t kFirst = 4'000'000'000U;
  for (std::uint32_t i = 0; i < 20'011; ++i) {
    expected.push_back(uniform_by_the_page(kFirst + i, 77, 5));
  }
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) continue;
    const auto check = [&](std::size_t from, std::size_t count) {
      std::vector<float> values(count + 1, -7);
      const auto first = kFirst + static_cast<std::uint32_t>(from);
      uniform(std::span(values).first(count), 0.1F, {.seed = 77, .tensor = 5, .first = first}, isa);
      EXPECT_EQ(values.back(), -7) << name(isa) << " wrote behind " << count;
      values.pop_back();
      const std::span part = std::span(expected).subspan(from, count);
      ASSERT_EQ(bits(values), bits(std::vector<float>(part.begin(), part.end())))
          << name(isa) << " from " << from << ", " << count;
    };
    check(0, expected.size());
    for (std::size_t from = 0; from < 6; ++from) {
      for (std::size_t count = 0; count < 140; ++count) check(from, count);
    }
  }
}

TEST(Normal, HasTheMomentsAndTheTailsOfItsDistribution) {
  constexpr std::size_t n = 400'000;
  std::vector<float> values(n);
  normal(values, 2, {.seed = 3, .tensor = 1});
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  double beyond_two = 0;
  double beyond_four = 0;
  for (const float value : values) {
    const double x = value / 2.0;
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
    beyond_two += std::fabs(x) > 2 ? 1 : 0;
    beyond_four += std::fabs(x) > 4 ? 1 : 0;
  }
  EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourths / n, 3, 0.07);
  EXPECT_NEAR(beyond_two / n, 0.0455, 0.0015);
  EXPECT_NEAR(beyond_four, n * 6.334e-5, 4 * std::sqrt(n * 6.334e-5));
}

TEST(Normal, OfAPartIsThePartOfTheWhole) {
  std::vector<float> whole(300);
  std::vector<float> part(100);
  normal(whole, 1, {.seed = 3, .tensor = 1});
  normal(part, 1, {.seed = 3, .tensor = 1, .first = 200});
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 200));
}

}  // namespace
}  // namespace sterna::kernels
