#include "kernels/trits/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "gradients.h"
#include "kernels/trits/encode.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {
namespace {

constexpr TernaryDraw some_draw{.seed = 0x0123456789ABCDEF, .step = 17, .rank = 1, .tensor = 6};

struct Encoded {
  std::vector<std::byte> planes;
  GradientStatistics statistics;
};

Encoded encoded(std::span<const float> g, float s, float clip, Isa isa) {
  Encoded result;
  result.planes.resize(planes_bytes(g.size()), std::byte{0xAA});
  // In two calls, as for a tensor of two packets.
  const std::size_t cut = std::min<std::size_t>(g.size(), 2 * kChunkElements);
  const auto planes = std::span(result.planes);
  encode_with_scaler({g, 0, cut}, s, clip, some_draw, planes.first(planes_bytes(cut)),
                     result.statistics, isa);
  encode_with_scaler({g, cut, g.size() - cut}, s, clip, some_draw,
                     planes.subspan(planes_bytes(cut)), result.statistics, isa);
  return result;
}

std::vector<std::byte> planes_drawn(std::span<const float> g, float s, Isa isa) {
  std::vector<std::byte> planes(planes_bytes(g.size()), std::byte{0xAA});
  ternarize(g, s, some_draw, 0, planes, isa);
  return planes;
}

std::vector<std::size_t> long_lengths() {
  auto all = lengths();
  all.insert(all.end(), {65'535, 65'536, 131'072, 200'001});
  return all;
}

TEST(EncodeWithScaler, GivesTheTritsOfTernarizeAndTheScalerOfScaler) {
  for (const std::size_t n : long_lengths()) {
    const auto g = gaussian(n, 0.01F, n);
    for (const Isa isa : every_isa()) {
      for (const float clip : {0.0F, 2.5F}) {
        const Encoded both = encoded(g, 0.02F, clip, isa);
        EXPECT_EQ(both.planes, planes_drawn(g, 0.02F, Isa::scalar)) << n << name(isa);
        EXPECT_EQ(bits({{*both.statistics.scaler(clip, g)}}),
                  bits({{*scaler(g, clip, Isa::scalar)}}))
            << n << name(isa);
        EXPECT_TRUE(both.statistics.finite());
        EXPECT_EQ(both.statistics.elements(), n);
      }
    }
  }
}

TEST(EncodeWithScaler, CountsSaturatedElements) {
  auto g = gaussian(70'000, 0.01F, 3);
  g[5] = 0.02F;  // the scaler itself is not saturated
  g[6] = -0.03F;
  const auto saturated = static_cast<std::uint64_t>(
      std::count_if(g.begin(), g.end(), [](float x) { return std::fabs(x) > 0.02F; }));
  for (const Isa isa : every_isa()) {
    for (const float clip : {0.0F, 2.5F}) {
      const GradientStatistics found = encoded(g, 0.02F, clip, isa).statistics;
      EXPECT_EQ(found.saturated(), saturated) << name(isa);
    }
  }
}

TEST(NonzeroTrits, AreCountedInThePlanes) {
  const auto g = gaussian(70'000, 0.01F, 3);
  const auto planes = planes_drawn(g, 0.02F, Isa::scalar);
  std::vector<float> trits(g.size());
  decode(planes, 1.0F, trits, Isa::scalar);
  const auto nonzero = static_cast<std::size_t>(
      std::count_if(trits.begin(), trits.end(), [](float x) { return x != 0; }));
  for (const Isa isa : every_isa()) EXPECT_EQ(nonzero_trits(planes, isa), nonzero) << name(isa);
}

TEST(EncodeWithScaler, OfZeroGivesZerosAndStillMeasures) {
  const auto g = gaussian(5000, 1.0F, 8);
  for (const Isa isa : every_isa()) {
    const Encoded both = encoded(g, 0.0F, 2.5F, isa);
    EXPECT_EQ(both.planes, std::vector<std::byte>(planes_bytes(5000)));
    EXPECT_EQ(*both.statistics.scaler(2.5F, g), *scaler(g, 2.5F, isa));
    EXPECT_EQ(both.statistics.saturated(), 5000U);
  }
}

TEST(EncodeWithScaler, FindsWhatIsNotFiniteAndNamesTheElement) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t place : {0U, 4096U, 65'535U, 65'536U, 70'002U}) {
      auto g = gaussian(70'003, 1.0F, 3);
      g[place] = bad;
      std::vector<std::byte> oracle;
      for (const Isa isa : every_isa()) {
        for (const float clip : {0.0F, 2.5F}) {
          const Encoded both = encoded(g, 2.5F, clip, isa);
          EXPECT_FALSE(both.statistics.finite());
          const auto s = both.statistics.scaler(clip, g);
          ASSERT_FALSE(s.ok());
          EXPECT_EQ(s.error().code, Errc::non_finite);
          EXPECT_NE(s.error().message.find("element " + std::to_string(place)), std::string::npos);
          if (oracle.empty()) oracle = both.planes;
          EXPECT_EQ(both.planes, oracle) << "meaningless, but the same on " << name(isa);
        }
      }
    }
  }
}

// Two threads that take every other chunk give what one gives: the fold is in the tensor's order.
TEST(GradientStatistics, FoldChunksThatWereMeasuredInAnyOrder) {
  const auto g = gaussian(400'000, 0.3F, 5);
  for (const Isa isa : every_isa()) {
    std::vector<ChunkStatistics> found(7);
    for (const std::size_t first : {1U, 0U}) {
      for (std::size_t chunk = first; chunk < found.size(); chunk += 2) {
        const std::size_t begin = chunk * kChunkElements;
        found[chunk] = measure_chunk(
            std::span(g).subspan(begin, std::min(kChunkElements, g.size() - begin)), 2.5F, isa);
      }
    }
    GradientStatistics statistics;
    for (const ChunkStatistics& chunk : found) statistics.fold(chunk);
    EXPECT_EQ(*statistics.scaler(2.5F, g), *scaler(g, 2.5F, Isa::scalar)) << name(isa);
  }
}

TEST(EncodeBucket, GivesTheScalerAndTheTritsThatItHasAlone) {
  const auto g = gaussian(200'001, 0.01F, 9);
  for (const std::size_t bucket : {512U, 8192U, 65'536U}) {
    for (std::size_t first = 0; first < g.size(); first += bucket) {
      const auto part = std::span(g).subspan(first, std::min(bucket, g.size() - first));
      const float s = *scaler(part, 2.5F, Isa::scalar);
      std::vector<std::byte> expected(planes_bytes(part.size()));
      ternarize(part, s, some_draw, first, expected, Isa::scalar);
      for (const Isa isa : every_isa()) {
        std::vector<std::byte> got(expected.size(), std::byte{0xAA});
        const auto done = encode_bucket({g, first, part.size()}, 2.5F, some_draw, got, isa);
        ASSERT_TRUE(done.ok());
        EXPECT_EQ(bits({{*done}}), bits({{s}})) << bucket << name(isa);
        EXPECT_EQ(got, expected) << bucket << name(isa);
      }
    }
  }
}

TEST(EncodeBucket, NamesTheElementOfTheTensorThatIsNotFinite) {
  auto g = gaussian(3000, 0.01F, 9);
  g[2222] = std::numeric_limits<float>::infinity();
  std::vector<std::byte> planes(128);
  EXPECT_TRUE(encode_bucket({g, 1536, 512}, 2.5F, some_draw, planes, best_isa()).ok());
  const auto done = encode_bucket({g, 2048, 512}, 2.5F, some_draw, planes, best_isa());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Errc::non_finite);
  EXPECT_NE(done.error().message.find("element 2222 "), std::string::npos);
}

}  // namespace
}  // namespace sterna::kernels
