// The codes at scale: the same on every instruction set for any length, alignment and seed, and the
// probabilities that TRITS.md promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "gradients.h"
#include "kernels/trits/ternary.h"
#include "kernels/trits/ternary_blocks.h"

namespace sterna::kernels {
namespace {

std::vector<std::byte> planes_of(std::span<const float> g, float s, const TernaryDraw& draw,
                                 std::uint64_t first, Isa isa, std::size_t offset = 0) {
  std::vector<std::byte> room(planes_bytes(g.size()) + offset, std::byte{0xAA});
  ternarize(g, s, draw, first, std::span(room).subspan(offset), isa);
  room.erase(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(offset));
  return room;
}

// So they are with statistics in the same pass, which are the same on every instruction set too.
void expect_the_same_with_statistics(std::span<const float> g, float s, const TernaryDraw& draw,
                                     std::uint64_t first, std::span<const std::byte> expected) {
  for (const float clip : {0.0F, 2.5F}) {
    std::optional<ChunkStatistics> oracle;
    for (const Isa isa : every_isa()) {
      std::vector<std::byte> planes(expected.size(), std::byte{0xAA});
      const ChunkStatistics found =
          ternarize_and_measure(g, s, clip, draw, first, planes, a_little_ahead(g, 0), isa);
      ASSERT_TRUE(std::ranges::equal(planes, expected)) << g.size() << name(isa);
      if (!oracle) oracle = found;
      ASSERT_EQ(found.saturated, oracle->saturated) << g.size() << name(isa);
      ASSERT_EQ(found.largest_bits, oracle->largest_bits) << g.size() << name(isa);
      for (std::size_t i = 0; i < found.blocks.size(); ++i) {
        ASSERT_EQ(found.blocks[i].sum, oracle->blocks[i].sum) << g.size() << name(isa);
        ASSERT_EQ(found.blocks[i].squares, oracle->blocks[i].squares) << g.size() << name(isa);
      }
    }
  }
}

TEST(Codes, AreTheSameForEveryLength) {
  const auto g = gaussian(4100, 0.01F, 1);
  for (std::size_t n = 0; n <= 4100; ++n) {
    const TernaryDraw draw{n, 3, 1, 2};
    const std::uint64_t first = kChunkElements * n;
    const auto part = std::span(g).last(n);  // so the start's alignment differs too
    const auto expected = planes_of(part, 0.025F, draw, first, Isa::scalar);
    for (const Isa isa : every_isa()) {
      ASSERT_EQ(planes_of(part, 0.025F, draw, first, isa), expected) << n << name(isa);
    }
    expect_the_same_with_statistics(part, 0.025F, draw, first, expected);
  }
}

TEST(Codes, AreTheSameAtEveryAlignment) {
  constexpr std::size_t n = 1100;
  const auto g = any_finite(n + 16, 2);
  const TernaryDraw draw{7, 3, 1, 2};
  for (std::size_t in = 0; in < 16; ++in) {
    const auto part = std::span(g).subspan(in, n);
    const auto expected = planes_of(part, 1.0F, draw, 0, Isa::scalar);
    for (const Isa isa : every_isa()) {
      for (std::size_t out = 0; out < 64; ++out) {
        ASSERT_EQ(planes_of(part, 1.0F, draw, 0, isa, out), expected) << in << " " << out;
      }
    }
  }
}

TEST(Codes, AreTheSameForAThousandSeeds) {
  SeededRandom random(3);
  for (int i = 0; i < 1000; ++i) {
    const TernaryDraw draw{random.next(), static_cast<std::uint32_t>(random.next()),
                           static_cast<std::uint32_t>(random.below(65'536)),
                           static_cast<std::uint32_t>(random.below(65'536))};
    const std::uint64_t first = random.below(std::uint64_t{1} << 20) * kChunkElements;
    const auto g = gaussian(600, 1.0F, random.next());
    const auto wild = any_finite(600, random.next());
    const auto s = static_cast<float>(std::ldexp(1.0, static_cast<int>(random.below(200)) - 100));
    const auto expected = planes_of(g, 2.5F, draw, first, Isa::scalar);
    const auto expected_wild = planes_of(wild, s, draw, first + kPlaneBlock, Isa::scalar);
    for (const Isa isa : every_isa()) {
      ASSERT_EQ(planes_of(g, 2.5F, draw, first, isa), expected) << i << name(isa);
      ASSERT_EQ(planes_of(wild, s, draw, first + kPlaneBlock, isa), expected_wild)
          << i << name(isa);
    }
    expect_the_same_with_statistics(g, 2.5F, draw, first, expected);
  }
}

// What is not finite gives trits that mean nothing, but no others elsewhere.
TEST(Codes, AreTheSameForEverySpecialValue) {
  constexpr float largest = 0x1.FFFFFEp127F;
  const std::vector<float> g = special_values();
  for (const float s : {0x1p-149F, 0x1p-96F, 0x1p-95F, 0.5F, 1.0F, 0x1.000002p0F, 3.0F, largest}) {
    for (std::uint32_t step = 0; step < 50; ++step) {
      const auto expected = planes_of(g, s, {9, step, 0, 0}, 0, Isa::scalar);
      for (const Isa isa : every_isa()) {
        ASSERT_EQ(planes_of(g, s, {9, step, 0, 0}, 0, isa), expected) << s << name(isa);
      }
    }
  }
}

// Of all words w, the fraction with w < t and rotl(w, 8 * turns) < t, exactly.
double both_below(std::uint32_t t, int turns) {
  // w is a, its upper bits, and b, its lower ones; turned it is b, a.
  const int upper_bits = 8 * turns;
  const int lower_bits = 32 - upper_bits;
  const std::uint64_t lower = std::uint64_t{1} << lower_bits;
  const auto below = [](std::uint64_t high, std::uint64_t bound, int bits, bool next) {
    return std::min<std::uint64_t>(bound >> bits, high) + (next && (bound >> bits) < high ? 1 : 0);
  };
  std::uint64_t count = 0;
  for (std::uint64_t a = 0; a < std::uint64_t{1} << upper_bits; ++a) {
    const std::uint64_t from_first = a < t >> lower_bits    ? lower
                                     : a == t >> lower_bits ? t & (lower - 1)
                                                            : 0;
    const std::uint64_t last = t & ((std::uint64_t{1} << upper_bits) - 1);
    count += std::min(from_first, below(lower, t, upper_bits, a < last));
  }
  return static_cast<double>(count) * 0x1p-32;
}

struct Counts {
  double elements = 0;
  double nonzero = 0;
  std::array<double, 4> both{};  ///< of the first and the (turns + 1)th element of a word
};

// The trits of a constant gradient, 65,536 elements a step.
Counts counted(float g, std::uint32_t steps) {
  const std::vector<float> gradient(65'536, g);
  std::vector<std::byte> planes(planes_bytes(gradient.size()));
  Counts counts;
  std::array<std::uint64_t, 5> found{};
  for (std::uint32_t step = 0; step < steps; ++step) {
    ternarize(gradient, 1.0F, {11, step, 0, 0}, 0, planes, best_isa());
    for (std::size_t at = 0; at < planes.size(); at += at % 128 == 48 ? 80 : 16) {
      std::array<std::uint64_t, 2> rows{};  // of one word: four rows of 32 columns
      std::memcpy(rows.data(), planes.data() + at, sizeof rows);
      const std::uint64_t first = rows[0] & 0xFFFFFFFF;
      found[0] += static_cast<unsigned>(std::popcount(rows[0]) + std::popcount(rows[1]));
      found[1] += static_cast<unsigned>(std::popcount(first & (rows[0] >> 32)));
      found[2] += static_cast<unsigned>(std::popcount(first & rows[1]));
      found[3] += static_cast<unsigned>(std::popcount(first & (rows[1] >> 32)));
    }
  }
  counts.elements = 65'536.0 * steps;
  counts.nonzero = static_cast<double>(found[0]);
  for (std::size_t turns = 1; turns < 4; ++turns) {
    counts.both[turns] = static_cast<double>(found[turns]);
  }
  return counts;
}

// A billion draws where they take a fraction of a second. The four elements of a word are not quite
// independent, which the variance of their sum takes in.
TEST(Codes, HaveTheProbabilitiesAndTheCorrelationsOfThePage) {
  const std::uint32_t steps = best_isa() == Isa::avx512 ? 2048 : 64;
  for (const float g : {0.001F, 0.03F, 0.1F, 0.25F, 0.3F, 0.5F, 0.77F, 0.99F}) {
    const auto t = static_cast<std::uint32_t>(g * 0x1p32F);
    const double p = t * 0x1p-32;
    const Counts counts = counted(g, steps);
    const double words = counts.elements / 4;
    double variance = 4 * p * (1 - p);
    for (int turns = 1; turns < 4; ++turns) {
      const double joint = both_below(t, turns);
      EXPECT_LE(std::fabs(joint - p * p), 1.05 / 256) << g;
      variance += 2 * (4 - turns) * (joint - p * p);
      const double found = counts.both[static_cast<std::size_t>(turns)];
      EXPECT_LT(std::fabs(found - words * joint) / std::sqrt(words * joint * (1 - joint)), 4)
          << g << " turned " << turns;
    }
    EXPECT_LT(std::fabs(counts.nonzero - counts.elements * p) / std::sqrt(words * variance), 4)
        << g;
  }
}

// A billion draws where they take a fraction of a second: of a gradient of both signs whose tails
// are clipped. The steps are independent of each other, so their sums' own spread is the measure.
TEST(Codes, StandOnAverageForTheClippedGradient) {
  const std::uint32_t steps = best_isa() == Isa::avx512 ? 16'384 : 512;
  constexpr float s = 1.0F;
  const auto g = gaussian(65'536, 0.5F, 12);
  double magnitudes = 0;  // expected of one step: the nonzero trits, and of these the negative ones
  double negatives = 0;
  std::vector<std::byte> minus(planes_bytes(g.size()));
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double p = std::min(1.0, std::fabs(double{g[i]}) / s);
    magnitudes += p;
    if (!std::signbit(g[i])) continue;
    negatives += p;
    minus[i / kPlaneBlock * kPlaneBlockBytes + i % kPlaneBlock / 8] |= std::byte{1} << (i % 8);
  }
  struct Sums {
    double sum = 0;
    double squares = 0;
    void add(double x) {
      sum += x;
      squares += x * x;
    }
    double z(double n) const { return sum / std::sqrt(squares - sum * sum / n); }
  };
  Sums of_magnitudes;
  Sums of_trits;
  std::vector<std::byte> planes(planes_bytes(g.size()));
  std::uint64_t wrong_signs = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    ternarize(g, s, {13, step, 0, 0}, 0, planes, best_isa());
    std::uint64_t nonzero = 0;
    std::uint64_t negative = 0;
    for (std::size_t at = 0; at < planes.size(); at += at % 128 == 56 ? 72 : 8) {
      std::array<std::uint64_t, 3> bits{};
      std::memcpy(&bits[0], planes.data() + at, sizeof bits[0]);
      std::memcpy(&bits[1], planes.data() + at + 64, sizeof bits[1]);
      std::memcpy(&bits[2], minus.data() + at, sizeof bits[2]);
      wrong_signs |= bits[1] ^ (bits[0] & bits[2]);
      nonzero += static_cast<unsigned>(std::popcount(bits[0]));
      negative += static_cast<unsigned>(std::popcount(bits[1]));
    }
    const auto found = static_cast<double>(nonzero);
    const auto found_negative = static_cast<double>(negative);
    of_magnitudes.add(found - magnitudes);
    of_trits.add(found - 2 * found_negative - (magnitudes - 2 * negatives));
  }
  EXPECT_EQ(wrong_signs, 0U);
  EXPECT_LT(std::fabs(of_magnitudes.z(steps)), 4);
  EXPECT_LT(std::fabs(of_trits.z(steps)), 4);
}

}  // namespace
}  // namespace sterna::kernels
