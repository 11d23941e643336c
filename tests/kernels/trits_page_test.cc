// The vectors of kernels/trits/TRITS.md, read from the page itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "gradients.h"
#include "kernels/random/dropout.h"
#include "kernels/random/initializer.h"
#include "kernels/random/philox.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"
#include "page.h"

namespace sterna::kernels {
namespace {

std::vector<Vector> vectors(const std::string& name) { return vectors_of(STERNA_TRITS_PAGE, name); }

std::vector<std::byte> page_planes(const Vector& v, Isa isa) {
  const auto g = page_gradient(v.number(1), v.number(0));
  const TernaryDraw draw{v.hex(3), static_cast<std::uint32_t>(v.number(4)),
                         static_cast<std::uint32_t>(v.number(5)),
                         static_cast<std::uint32_t>(v.number(6))};
  std::vector<std::byte> planes(planes_bytes(g.size()), std::byte{0xAA});
  ternarize(g, v.real(2), draw, v.number(1), planes, isa);
  return planes;
}

TEST(TritsPage, PhiloxGivesItsAuthorsKnownAnswers) {
  for (const Vector& v : vectors("philox")) {
    std::array<std::uint32_t, 4> counter{};
    for (std::size_t i = 0; i < 4; ++i) counter[i] = static_cast<std::uint32_t>(v.hex(i));
    const auto words = philox(counter, v.hex(4));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(hex(words[i], 8), v.expected[i]);
  }
}

// The word shows in the trit: an element whose threshold is the word is zero, one above is nonzero.
TEST(TritsPage, AnElementIsComparedWithItsWordOfThePage) {
  for (const Vector& v : vectors("word")) {
    const auto word = static_cast<std::uint32_t>(std::stoul(v.expected[0], nullptr, 16));
    const TernaryDraw draw{v.hex(0), static_cast<std::uint32_t>(v.number(1)),
                           static_cast<std::uint32_t>(v.number(2)),
                           static_cast<std::uint32_t>(v.number(3))};
    const std::uint64_t index = v.number(4);
    const std::size_t element = index % kPlaneBlock;
    for (const Isa isa : every_isa()) {
      const auto nonzero = [&](float threshold) {
        std::vector<float> g(kPlaneBlock, 0.0F);
        g[element] = threshold;
        std::vector<std::byte> planes(kPlaneBlockBytes);
        ternarize(g, 0x1p32F, draw, index - element, planes, isa);  // k = 1: t is g itself
        return planes[element / 8] != std::byte{0};
      };
      // fp32 has 24 bits: the nearest thresholds on either side of the word.
      const auto low = static_cast<float>(word & 0xFFFFFF00U);
      EXPECT_FALSE(nonzero(low)) << v.expected[0];
      EXPECT_TRUE(nonzero(low + 256)) << v.expected[0];
    }
  }
}

TEST(TritsPage, ScalersAreThePages) {
  for (const Vector& v : vectors("scaler")) {
    for (const Isa isa : every_isa()) {
      const auto s = scaler(page_gradient(0, v.number(0)), v.real(1), isa);
      ASSERT_TRUE(s.ok());
      EXPECT_EQ(hex(std::bit_cast<std::uint32_t>(*s), 8), v.expected[0]) << name(isa);
    }
  }
}

TEST(TritsPage, SumsAreGroupedAsThePageSays) {
  for (const Vector& v : vectors("sigma_sums")) {
    std::vector<float> gradient = page_gradient(0, v.number(0));
    shrink_by_blocks(gradient);
    for (const Isa isa : every_isa()) {
      GradientStatistics statistics;
      for (std::size_t at = 0; at < gradient.size(); at += kChunkElements) {
        const std::size_t count = std::min(kChunkElements, gradient.size() - at);
        statistics.fold(measure_chunk(std::span(gradient).subspan(at, count), 2.5F, isa));
      }
      EXPECT_EQ(hex(std::bit_cast<std::uint64_t>(statistics.sum()), 16), v.expected[0]);
      EXPECT_EQ(hex(std::bit_cast<std::uint64_t>(statistics.squares()), 16), v.expected[1]);
    }
  }
}

TEST(TritsPage, PlanesAreThePages) {
  for (const Vector& v : vectors("planes")) {
    for (const Isa isa : every_isa()) {
      const auto planes = page_planes(v, isa);
      ASSERT_EQ(planes.size(), kPlaneBlockBytes);
      const std::string rest(112, '0');
      const auto nonzero = std::span(planes).first(64);
      const auto negative = std::span(planes).last(64);
      EXPECT_EQ(hex(nonzero), std::string(v.expected[0]).append(rest)) << name(isa);
      EXPECT_EQ(hex(negative), std::string(v.expected[1]).append(rest)) << name(isa);
    }
  }
}

TEST(TritsPage, LongPlanesHaveThePagesHash) {
  for (const Vector& v : vectors("hash")) {
    for (const Isa isa : every_isa()) {
      EXPECT_EQ(hex(fnv1a(page_planes(v, isa)), 16), v.expected[0]) << name(isa);
    }
  }
}

TEST(TritsPage, SumsAreThePages) {
  for (Vector v : vectors("sums")) {
    const auto ranks = static_cast<std::uint32_t>(v.number(5));
    const std::size_t count = v.number(0);
    for (const Isa isa : every_isa()) {
      std::vector<std::vector<std::byte>> planes;
      std::vector<Packet> packets;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        v.given[5] = std::to_string(rank);
        planes.push_back(page_planes(v, isa));
      }
      for (const auto& payload : planes) packets.push_back({Packing::planes, v.real(2), payload});
      std::vector<std::byte> sums(sum_bytes(count, ranks));
      sum_trits(packets, sums, isa);
      const std::size_t shown = v.expected.size() - 1;
      ASSERT_EQ(shown, sum_planes(ranks));
      for (std::size_t plane = 0; plane < shown; ++plane) {
        EXPECT_EQ(hex(std::span(sums).subspan(plane * 64, 8)), v.expected[plane]) << name(isa);
      }
      EXPECT_EQ(hex(fnv1a(sums), 16), v.expected[shown]) << name(isa);
      EXPECT_TRUE(check_sums(sums, count, ranks, Isa::scalar).ok());
    }
  }
}

TEST(TritsPage, AveragesOfSumsAreThePages) {
  for (const Vector& v : vectors("average")) {
    const auto ranks = static_cast<std::uint32_t>(v.number(0));
    const auto sum = static_cast<std::uint32_t>(std::stoi(v.given[2]));
    std::vector<std::byte> sums(sum_bytes(1, ranks));
    for (std::size_t plane = 0; plane < sum_planes(ranks); ++plane) {
      sums[plane * 64] = static_cast<std::byte>(sum >> plane & 1U);
    }
    for (const Isa isa : every_isa()) {
      float value = 0;
      decode_sums({ranks, v.real(1), sums}, std::span(&value, 1), isa);
      EXPECT_EQ(hex(std::bit_cast<std::uint32_t>(value), 8), v.expected[0]) << name(isa);
    }
  }
}

TEST(TritsPage, InitialParametersAreThePages) {
  for (const Vector& v : vectors("truncated_normal")) {
    std::vector<float> values(v.number(0) + 1);
    truncated_normal(values, 0.1F,
                     {.seed = v.hex(2), .tensor = static_cast<std::uint32_t>(v.number(1))},
                     best_isa());
    EXPECT_EQ(hex(std::bit_cast<std::uint32_t>(values.back()), 8), v.expected[0]);
  }
}

TEST(TritsPage, UniformParametersAreThePages) {
  for (const Vector& v : vectors("uniform")) {
    InitialDraw draw{.seed = v.hex(2), .tensor = static_cast<std::uint32_t>(v.number(1))};
    std::vector<float> values(v.number(0) + 1);
    uniform(values, 0.1F, draw, best_isa());
    EXPECT_EQ(hex(std::bit_cast<std::uint32_t>(values.back()), 8), v.expected[0]);
    draw.first = static_cast<std::uint32_t>(v.number(0));
    float alone = 0;
    uniform(std::span(&alone, 1), 0.1F, draw, Isa::scalar);
    EXPECT_EQ(alone, values.back());
  }
}

TEST(TritsPage, DropoutComparesTheKeptPartWithTheWordOfThePage) {
  for (const Vector& v : vectors("dropout")) {
    const auto word = static_cast<std::uint32_t>(std::stoul(v.expected[0], nullptr, 16));
    const DropoutDraw draw{v.hex(0), static_cast<std::uint32_t>(v.number(1)),
                           static_cast<std::uint32_t>(v.number(2)),
                           static_cast<std::uint32_t>(v.number(3)), v.number(4)};
    const auto kept = [&](float keep) {
      float x = 3;
      dropout(std::span(&x, 1), keep, draw, std::span(&x, 1));
      EXPECT_TRUE(x == 0 || x == 3 * (1 / keep));
      return x != 0;
    };
    // fp32 has 24 bits: the nearest thresholds on either side of the word.
    const auto low = static_cast<float>(word & 0xFFFFFF00U);
    EXPECT_FALSE(kept(low * 0x1p-32F)) << v.expected[0];
    EXPECT_TRUE(kept((low + 256) * 0x1p-32F)) << v.expected[0];
  }
}

TEST(TritsPage, DropoutOfAPartIsThePartOfTheWhole) {
  const DropoutDraw draw{.seed = 123, .step = 4, .rank = 2, .layer = 1, .first = 300};
  const std::vector<float> ones(2000, 1.0F);
  std::vector<float> whole(ones.size()), parts(ones.size());
  dropout(ones, 0.5F, draw, whole);
  for (std::size_t at = 0; at < ones.size(); at += 250) {
    DropoutDraw part = draw;
    part.first += at;
    dropout(std::span(ones).subspan(at, 250), 0.5F, part, std::span(parts).subspan(at, 250));
  }
  EXPECT_EQ(parts, whole);
}

}  // namespace
}  // namespace sterna::kernels
