#include "kernels/entropy/entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gradients.h"
#include "kernels/entropy/entropy_model.h"

namespace sterna::kernels {
namespace {

using Bytes = std::vector<std::byte>;

// Planes of `count` trits, each nonzero with probability `p`, either sign alike.
Bytes trits(std::size_t count, double p, std::uint64_t seed) {
  SeededRandom random(seed);
  Bytes planes(planes_bytes(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t draw = random.next();
    if (static_cast<double>(draw >> 11) * 0x1p-53 >= p) continue;
    std::byte* nonzero = planes.data() + i / kPlaneBlock * kPlaneBlockBytes + i % kPlaneBlock / 8;
    const auto bit = std::byte{1} << (i % 8);
    *nonzero |= bit;
    if (draw % 2 != 0) nonzero[kPlaneBlockBytes / 2] |= bit;
  }
  return planes;
}

// Sums of `ranks` such trits for each element.
Bytes sums(std::size_t count, double p, std::uint32_t ranks, std::uint64_t seed) {
  std::vector<Bytes> each;
  std::vector<Packet> packets;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    each.push_back(trits(count, p, seed + 1000 * rank));
    packets.push_back({Packing::planes, 1.0F, each.back()});
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) packets[rank].payload = each[rank];
  Bytes planes(sum_bytes(count, ranks));
  sum_trits(packets, planes, best_isa());
  return planes;
}

// The elements of planes of whole blocks.
std::size_t elements(const Bytes& planes, std::uint32_t ranks) {
  return planes.size() / sum_bytes(1, ranks) * kPlaneBlock;
}

Bytes coded(const Bytes& planes, std::uint32_t ranks = 1, Isa isa = best_isa()) {
  Bytes out(entropy_room(elements(planes, ranks), ranks), std::byte{0xAA});
  out.resize(entropy_encode(planes, elements(planes, ranks), ranks, out, isa));
  return out;
}

// `bytes` in an allocation of exactly their size, so that a sanitizer sees what is read beyond.
Result<Bytes> decoded(std::span<const std::byte> bytes, std::size_t count, std::uint32_t ranks = 1,
                      Isa isa = best_isa()) {
  const Bytes exact(bytes.begin(), bytes.end());
  Bytes planes(sum_bytes(count, ranks), std::byte{0xAA});
  if (auto ok = entropy_decode(exact, count, ranks, planes, isa); !ok) return ok.error();
  return planes;
}

double entropy_bits(double p) {
  return -p * std::log2(p) - (1 - p) * std::log2(1 - p) + p;  // of the signs: p
}

constexpr double probabilities[] = {0, 1e-5, 0.001, 0.01, 0.055, 0.14, 0.32, 0.49, 0.51, 0.9, 1};

TEST(Entropy, GivesThePlanesBackForEveryLengthAndProbability) {
  for (const double p : probabilities) {
    for (const std::size_t n : lengths()) {
      const Bytes planes = trits(n, p, n);
      const Bytes bytes = coded(planes);
      EXPECT_LE(bytes.size(), most_entropy_bytes(n, 1));
      const auto back = decoded(bytes, n);
      ASSERT_TRUE(back.ok()) << n << " " << p << ": " << back.error().message;
      EXPECT_EQ(*back, planes) << n << " " << p;
    }
  }
}

TEST(Entropy, HasTheSameBytesOnEveryInstructionSet) {
  for (const double p : probabilities) {
    for (const std::size_t n : {600, 40'000, 131'072, 200'001}) {
      const Bytes planes = trits(n, p, n + 1);
      const Bytes bytes = coded(planes, 1, Isa::scalar);
      for (const Isa isa : every_isa()) {
        EXPECT_EQ(coded(planes, 1, isa), bytes) << n << " " << p << " " << name(isa);
        const auto back = decoded(bytes, n, 1, isa);
        ASSERT_TRUE(back.ok()) << n << " " << p << " " << name(isa) << back.error().message;
        EXPECT_EQ(*back, planes) << n << " " << p << " " << name(isa);
      }
    }
  }
}

TEST(Entropy, TakesHardlyMoreThanTheEntropy) {
  constexpr std::size_t n = 2 * kEntropySegment;
  const auto over_limit = [](double p) {
    const Bytes planes = trits(n, p, 3);
    return 8.0 * static_cast<double>(coded(planes).size()) / (n * entropy_bits(p));
  };
  EXPECT_LT(over_limit(0.32), 1.015);
  EXPECT_LT(over_limit(0.14), 1.015);
  EXPECT_LT(over_limit(0.055), 1.015);
  EXPECT_LT(over_limit(0.01), 1.06);
  EXPECT_LT(over_limit(0.7), 1.015);
}

TEST(Entropy, AdaptsToEachSegment) {
  const Bytes sparse = trits(kEntropySegment, 0.01, 4);
  const Bytes dense = trits(kEntropySegment, 0.4, 5);
  Bytes both = sparse;
  both.insert(both.end(), dense.begin(), dense.end());
  EXPECT_EQ(coded(both).size(), coded(sparse).size() + coded(dense).size());
}

TEST(Entropy, OfRunsOfSegmentsJoinedIsThatOfTheWhole) {
  constexpr std::size_t n = 3 * kEntropySegment + 777;
  constexpr std::size_t head = 2 * kEntropySegment;
  const Bytes planes = trits(n, 0.3, 6);
  const Bytes whole = coded(planes);
  const auto cut = planes.begin() + planes_bytes(head);
  Bytes joined = coded(Bytes(planes.begin(), cut));
  const std::size_t size = joined.size();
  const Bytes rest = coded(Bytes(cut, planes.end()));
  joined.insert(joined.end(), rest.begin(), rest.end());
  EXPECT_EQ(joined, whole);

  EXPECT_EQ(*entropy_prefix(whole, head, 1), size);
  EXPECT_EQ(*entropy_prefix(whole, n, 1), whole.size());
  EXPECT_EQ(*decoded(std::span(whole).first(size), head),
            Bytes(planes.begin(), planes.begin() + planes_bytes(head)));
  EXPECT_EQ(entropy_prefix(std::span(whole).first(size), n, 1).error().code, Errc::malformed);
}

TEST(Entropy, RefusesEveryTruncationAndEveryByteTooMany) {
  constexpr std::size_t n = 20'000;
  Bytes bytes = coded(trits(n, 0.1, 7));
  for (const Isa isa : every_isa()) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto back = decoded(std::span(bytes).first(size), n, 1, isa);
      ASSERT_FALSE(back.ok()) << size;
      EXPECT_EQ(back.error().code, Errc::malformed);
    }
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decoded(bytes, n).ok());
}

TEST(Entropy, RefusesATritBehindTheLastElementAndANegativeZero) {
  const Bytes planes = trits(30'000, 0.1, 8);
  const Bytes bytes = coded(planes);
  EXPECT_TRUE(decoded(bytes, 30'000).ok());
  EXPECT_FALSE(decoded(bytes, 30'000 - 250).ok());
  Bytes copied(1 + planes_bytes(100));
  EXPECT_TRUE(decoded(copied, 100).ok());
  copied[65] = std::byte{1};
  EXPECT_FALSE(decoded(copied, 100).ok());
}

TEST(Entropy, OfSumsGivesThemBackForEveryLengthAndNumberOfRanks) {
  for (const std::uint32_t ranks : {2, 3, 4, 7, 8, 16, 127, 128}) {
    for (const double p : {0.0, 0.01, 0.3, 1.0}) {
      for (const std::size_t n : {0, 1, 513, 4097, 9000}) {
        const Bytes planes = sums(n, p, ranks, n);
        const Bytes bytes = coded(planes, ranks, Isa::scalar);
        EXPECT_LE(bytes.size(), most_entropy_bytes(n, ranks));
        for (const Isa isa : every_isa()) {
          EXPECT_EQ(coded(planes, ranks, isa), bytes) << n << " " << p << " of " << ranks;
          const auto back = decoded(bytes, n, ranks, isa);
          ASSERT_TRUE(back.ok()) << n << " " << p << " of " << ranks << back.error().message;
          EXPECT_EQ(*back, planes) << n << " " << p << " of " << ranks;
        }
      }
    }
  }
}

TEST(Entropy, OfTheSumsOfTwoRanksIsBelowTheirPlanesAsCounted) {
  constexpr std::size_t n = kEntropySegment + 5000;
  const Bytes bytes = coded(sums(n, 0.3175, 2, 1), 2);
  EXPECT_LT(8.0 * static_cast<double>(bytes.size()) / n, 1.75);  // H = 1.72, planes: 3
}

TEST(Entropy, OfSumsIsRefusedAsThatOfAnotherNumberOfRanks) {
  const Bytes bytes = coded(sums(20'000, 0.3, 2, 1), 2);
  EXPECT_TRUE(decoded(bytes, 20'000, 2).ok());
  for (const std::uint32_t ranks : {1, 3, 4, 200}) {
    EXPECT_FALSE(decoded(bytes, 20'000, ranks).ok()) << ranks;
  }
}

// Any bytes that come are planes or an error, and the same planes from every instruction set.
void try_wrong_bytes(const Bytes& right, std::size_t n, std::uint32_t ranks, SeededRandom& random,
                     std::size_t& accepted) {
  constexpr std::size_t front = 146;  // header, states, and the weights of few ranks
  Bytes wrong = right;
  for (std::size_t changes = 1 + random.below(3); changes > 0; --changes) {
    const std::size_t range = random.below(2) == 0 ? wrong.size() : front;
    wrong[random.below(range)] = static_cast<std::byte>(random.next());
  }
  if (random.below(8) == 0) wrong.resize(random.below(wrong.size()));
  const auto expected = decoded(wrong, n, ranks, Isa::scalar);
  for (const Isa isa : every_isa()) {
    const auto back = decoded(wrong, n, ranks, isa);
    ASSERT_EQ(back.ok(), expected.ok());
    if (!back) {
      EXPECT_EQ(back.error().code, Errc::malformed);
      continue;
    }
    ++accepted;
    EXPECT_EQ(*back, *expected);
    EXPECT_TRUE(check_sums(*back, n, ranks, Isa::scalar).ok());
  }
}

TEST(Entropy, OfAnyBytesIsPlanesOrAnError) {
  SeededRandom random(9);
  std::size_t accepted = 0;
  for (const double p : {0.002, 0.05, 0.3, 0.8}) {
    for (const std::size_t n : {9'000, 140'000}) {
      const Bytes bytes = coded(trits(n, p, 10));
      for (int round = 0; round < 60; ++round) try_wrong_bytes(bytes, n, 1, random, accepted);
    }
  }
  for (const std::uint32_t ranks : {2, 5, 9}) {
    const Bytes bytes = coded(sums(9'000, 0.2, ranks, 10), ranks);
    for (int round = 0; round < 60; ++round) try_wrong_bytes(bytes, 9'000, ranks, random, accepted);
  }
  EXPECT_GT(accepted, 0U);  // a changed sign is another gradient
}

TEST(RansFrequencies, ShareAllSlotsAndGiveEveryPossibleSymbolOne) {
  SeededRandom random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> weights(2 + random.below(255));
    for (auto& weight : weights) weight = random.next() >> (24 + random.below(40));
    weights[0] = 1;
    weights[1] = 1;
    const RansFrequencies frequencies = rans_frequencies(weights);
    std::uint32_t sum = 0;
    for (std::size_t s = 0; s < 256; ++s) {
      sum += frequencies[s];
      EXPECT_EQ(frequencies[s] > 0, s < weights.size() && weights[s] > 0);
    }
    EXPECT_EQ(sum, kRansSlots);
  }
}

TEST(RansEncodeTable, DividesEveryStateThatTheEncoderMayDivide) {
  SeededRandom random(12);
  for (std::uint32_t f = 1; f < kRansSlots; ++f) {
    RansFrequencies frequencies{};
    frequencies[0] = static_cast<std::uint16_t>(f);
    frequencies[1] = static_cast<std::uint16_t>(kRansSlots - f);
    const RansEncodeTable table(frequencies);
    const std::uint32_t shift = table.entry[0] >> RansEncodeTable::kShiftAt & 15;
    const std::uint32_t carry = table.entry[0] >> RansEncodeTable::kCarryAt;
    const auto divides = [&](std::uint64_t x) {
      return (x + carry) * table.reciprocal[0] >> 32 >> shift == x / f;
    };
    // A quotient is wrong first where x is a multiple of f or one below it, and large.
    const std::uint64_t most = (std::uint64_t{1} << 20) - 1;
    for (const std::uint64_t q : {std::uint64_t{1}, most / 2, most - 1, most, random.below(most)}) {
      EXPECT_TRUE(divides(q * f)) << f;
      EXPECT_TRUE(divides(q * f + f - 1)) << f;
    }
  }
}

TEST(TritModel, IsTheNearest) {
  EXPECT_EQ(trit_model(0, 512), 0xA0);
  EXPECT_EQ(trit_model(65'536, 131'072), 0x0F);
  EXPECT_EQ(trit_model(32'768, 131'072), 0x00);
  EXPECT_EQ(trit_model(16'384, 131'072), 0x10);
  EXPECT_EQ(trit_model(32, 131'072), 0xA0);
  EXPECT_EQ(trit_model(63, 131'072), 0x90);  // 31.5 of 2^-16: half way to 32
  EXPECT_EQ(trit_model(41'943, 131'072), 0x04);
}

}  // namespace
}  // namespace sterna::kernels
