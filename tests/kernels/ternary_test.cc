#include "kernels/trits/ternary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "gradients.h"
#include "kernels/trits/scaler.h"

namespace sterna::kernels {
namespace {

constexpr TernaryDraw draw{.seed = 0x0123456789ABCDEF, .step = 17, .rank = 1, .tensor = 6};

std::vector<std::byte> planes_of(std::span<const float> g, float s, Isa isa,
                                 const TernaryDraw& with = draw, std::uint64_t first = 0) {
  std::vector<std::byte> planes(planes_bytes(g.size()), std::byte{0xAA});
  ternarize(g, s, with, first, planes, isa);
  return planes;
}

std::vector<float> decoded(std::span<const std::byte> planes, float s, std::size_t n, Isa isa) {
  std::vector<float> out(n, 99.0F);
  decode(planes, s, out, isa);
  return out;
}

std::vector<float> trits_of(std::span<const float> g, float s, Isa isa,
                            const TernaryDraw& with = draw) {
  return decoded(planes_of(g, s, isa, with), 1.0F, g.size(), isa);
}

TEST(Planes, TakeTwoBitsAnElementInBlocksOf512) {
  EXPECT_EQ(planes_bytes(0), 0U);
  EXPECT_EQ(planes_bytes(1), 128U);
  EXPECT_EQ(planes_bytes(512), 128U);
  EXPECT_EQ(planes_bytes(513), 256U);
}

TEST(Ternarize, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t n : lengths()) {
    const auto g = gaussian(n, 0.01F, n);
    const auto wild = any_finite(n, n);
    for (const Isa isa : every_isa()) {
      EXPECT_EQ(planes_of(g, 0.025F, isa), planes_of(g, 0.025F, Isa::scalar)) << n;
      for (const float s : {1.0F, 0x1p-95F, 0x1p-130F, 0x1p127F, 1e-30F}) {
        EXPECT_EQ(planes_of(wild, s, isa), planes_of(wild, s, Isa::scalar)) << n << " s=" << s;
      }
    }
  }
}

TEST(Ternarize, OfATensorInChunksGivesTheBytesOfTheWhole) {
  const auto g = gaussian(70'001, 0.01F, 4);
  for (const Isa isa : every_isa()) {
    const auto whole = planes_of(g, 0.025F, isa);
    std::vector<std::byte> joined;
    for (std::size_t begin = 0; begin < g.size(); begin += 65'536) {
      const auto part =
          std::span(g).subspan(begin, std::min<std::size_t>(65'536, g.size() - begin));
      const auto planes = planes_of(part, 0.025F, isa, draw, begin);
      joined.insert(joined.end(), planes.begin(), planes.end());
    }
    EXPECT_EQ(joined, whole);
    const auto middle = planes_of(std::span(g).subspan(1536, 512), 0.025F, isa, draw, 1536);
    EXPECT_TRUE(std::equal(middle.begin(), middle.end(), whole.begin() + 384));
  }
}

TEST(Ternarize, DrawsAnewForEverySeedStepRankAndTensor) {
  const auto g = gaussian(2048, 1.0F, 5);
  const auto first = planes_of(g, 2.5F, best_isa());
  for (const TernaryDraw other :
       {TernaryDraw{draw.seed + 1, draw.step, draw.rank, draw.tensor},
        TernaryDraw{draw.seed + (1ULL << 32), draw.step, draw.rank, draw.tensor},
        TernaryDraw{draw.seed, draw.step + 1, draw.rank, draw.tensor},
        TernaryDraw{draw.seed, draw.step, draw.rank + 1, draw.tensor},
        TernaryDraw{draw.seed, draw.step, draw.rank, draw.tensor + 1}}) {
    EXPECT_NE(planes_of(g, 2.5F, best_isa(), other), first);
  }
  EXPECT_EQ(planes_of(g, 2.5F, best_isa()), first);
}

// Trits of one step differ from those of another independently, so the mean over T steps of
// s * trit has variance |g| (s - |g|) / T around the clipped gradient.
TEST(Ternarize, IsOnAverageTheClippedGradient) {
  constexpr int steps = 4000;
  constexpr float s = 1.0F;
  const std::vector<float> ladder{0.0F,   -0.0F, 0.001F, -0.01F, 0.1F,  -0.25F, 0.5F,
                                  -0.75F, 0.9F,  -0.99F, 1.0F,   -1.0F, 3.0F,   -1e30F};
  std::vector<float> g(512);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = ladder[i % ladder.size()];
  std::vector<double> sum(g.size());
  for (std::uint32_t step = 0; step < steps; ++step) {
    TernaryDraw with = draw;
    with.step = step;
    const auto trits = trits_of(g, s, best_isa(), with);
    for (std::size_t i = 0; i < g.size(); ++i) sum[i] += double{s} * trits[i];
  }
  double worst = 0;
  double squares = 0;
  int counted = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double clipped = std::clamp(g[i], -s, s);
    const double variance = std::fabs(clipped) * (s - std::fabs(clipped)) * steps;
    if (variance == 0) {
      EXPECT_EQ(sum[i], clipped * steps) << g[i];
      continue;
    }
    const double z = (sum[i] - clipped * steps) / std::sqrt(variance);
    worst = std::max(worst, std::fabs(z));
    squares += z * z;
    ++counted;
  }
  EXPECT_LT(worst, 4.5);
  EXPECT_NEAR(squares / counted, 1.0, 0.3);
}

// The elements that share a word (32 apart, up to four of them) are nearly independent: for a
// probability p the covariance of the rotations is at most about 2^-8.
TEST(Ternarize, HardlyCorrelatesTheElementsThatShareAWord) {
  constexpr int steps = 2000;
  const std::vector<float> g(512, 0.3F);
  double both = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    TernaryDraw with = draw;
    with.step = step;
    const auto trits = trits_of(g, 1.0F, best_isa(), with);
    for (std::size_t i = 0; i < 32; ++i) both += trits[i] * trits[i + 32];
  }
  EXPECT_NEAR(both / (32 * steps), 0.09, 0.005 + 1.0 / 256);
}

TEST(Ternarize, OfAGaussianAtTwoAndAHalfSigmaKeepsTheKnownFraction) {
  const auto g = gaussian(1 << 18, 0.02F, 6);
  for (const Isa isa : every_isa()) {
    const auto trits = trits_of(g, *scaler(g, 2.5F, isa), isa);
    const auto nonzero = std::count_if(trits.begin(), trits.end(), [](float t) { return t != 0; });
    EXPECT_NEAR(static_cast<double>(nonzero) / static_cast<double>(g.size()), 0.3175, 0.004);
  }
}

TEST(Ternarize, NeverGivesAWrongSignNorATritToAZero) {
  const auto g = any_finite(5000, 7);
  for (const Isa isa : every_isa()) {
    const auto trits = trits_of(g, 1.0F, isa);
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (trits[i] == 0) continue;
      EXPECT_GT(trits[i] * g[i], 0) << g[i];
    }
  }
}

TEST(Ternarize, WithAScalerOfZeroOrBelowTheSmallestGivesZeros) {
  const auto g = any_finite(700, 8);
  const std::vector<std::byte> zeros(planes_bytes(700));
  for (const Isa isa : every_isa()) {
    for (const float s : {0.0F, 0x1p-149F, 0x1p-126F, std::nextafter(0x1p-95F, 0.0F)}) {
      EXPECT_EQ(planes_of(g, s, isa), zeros) << s;
    }
    EXPECT_NE(planes_of(g, 0x1p-95F, isa), zeros);
  }
}

TEST(Decode, IsTheScalerTimesTheTritAtAnyAlignment) {
  for (const std::size_t n : lengths()) {
    const auto planes = planes_of(gaussian(n, 1.0F, n), 2.5F, Isa::scalar);
    const auto expected = bits(decoded(planes, 0.7F, n, Isa::scalar));
    std::vector<std::byte> shifted(planes.size() + 3);
    std::copy(planes.begin(), planes.end(), shifted.begin() + 3);
    for (const Isa isa : every_isa()) {
      EXPECT_EQ(bits(decoded(std::span(shifted).subspan(3), 0.7F, n, isa)), expected) << n;
    }
  }
}

TEST(CheckPlanes, AcceptsWhatTernarizeMakes) {
  for (const std::size_t n : lengths()) {
    const auto planes = planes_of(gaussian(n, 1.0F, n), 0.5F, best_isa());
    EXPECT_TRUE(check_planes(planes, n).ok()) << n;
  }
}

TEST(CheckPlanes, RefusesAWrongSize) {
  const std::vector<std::byte> planes(256);
  EXPECT_TRUE(check_planes(planes, 513).ok());
  EXPECT_EQ(check_planes(planes, 512).error().code, Errc::malformed);
  EXPECT_EQ(check_planes(planes, 1025).error().code, Errc::malformed);
  EXPECT_FALSE(check_planes(planes, 0).ok());
  EXPECT_FALSE(check_planes(std::span(planes).first(255), 513).ok());
  EXPECT_FALSE(check_planes(planes, std::numeric_limits<std::size_t>::max()).ok());
}

TEST(CheckPlanes, RefusesANegativeTritThatIsNotNonzero) {
  for (const std::size_t byte : {64U, 127U, 192U, 199U}) {
    std::vector<std::byte> planes(256);
    planes[byte] = std::byte{0x10};
    EXPECT_FALSE(check_planes(planes, 600).ok());
    planes[byte - 64] = std::byte{0x10};
    EXPECT_TRUE(check_planes(planes, 600).ok());
  }
}

TEST(CheckPlanes, RefusesBitsBehindTheLastElement) {
  std::vector<std::byte> planes(128);
  planes[12] = std::byte{0x10};  // element 100
  EXPECT_TRUE(check_planes(planes, 101).ok());
  EXPECT_FALSE(check_planes(planes, 100).ok());
}

}  // namespace
}  // namespace sterna::kernels
