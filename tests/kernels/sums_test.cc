#include "kernels/sums/sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "packets.h"

namespace sterna::kernels {
namespace {

// Trits of some ranks, as planes at odd addresses and as numbers.
struct Ranks {
  Ranks(std::size_t count, std::size_t ranks) : packets_of(count, planes_of(ranks)) {
    for (const auto& values : packets_of.values()) {
      for (const float value : values) {
        trits.push_back(value == 0 ? 0 : value > 0 ? 1 : -1);
      }
    }
    sums.resize(count);
    for (std::size_t i = 0; i < trits.size(); ++i) sums[i % count] += trits[i];
  }
  static std::vector<Packing> planes_of(std::size_t n) { return {n, Packing::planes}; }
  const std::vector<Packet>& packets() const { return packets_of.packets(); }

  RankPackets packets_of;
  std::vector<int> trits;
  std::vector<int> sums;
};

std::vector<std::byte> summed(std::span<const Packet> packets, std::size_t count, Isa isa) {
  std::vector<std::byte> out(sum_bytes(count, static_cast<std::uint32_t>(packets.size())),
                             std::byte{0xAA});
  sum_trits(packets, out, isa);
  return out;
}

// Sums written down number by number, as the page says.
std::vector<std::byte> planes_of(std::span<const int> numbers, std::uint32_t ranks) {
  const std::size_t planes = sum_planes(ranks);
  std::vector<std::byte> bytes(sum_bytes(numbers.size(), ranks));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t plane = 0; plane < planes; ++plane) {
      if ((static_cast<std::uint32_t>(numbers[i]) >> plane & 1U) == 0) continue;
      const std::size_t block = i / kPlaneBlock * planes * 64;
      bytes[block + plane * 64 + i % kPlaneBlock / 8] |= std::byte{1} << (i % 8);
    }
  }
  return bytes;
}

std::vector<float> decoded(const SumPacket& packet, std::size_t count, Isa isa) {
  std::vector<float> out(count, 99.0F);
  decode_sums(packet, out, isa);
  return out;
}

TEST(Sums, TakeAsManyPlanesAsTheIntegersNeed) {
  const std::vector<std::pair<std::uint32_t, std::size_t>> expected{
      {1, 2}, {2, 3}, {3, 3}, {4, 4}, {7, 4}, {8, 5}, {15, 5}, {16, 6}, {255, 9}, {65536, 18}};
  for (const auto& [ranks, planes] : expected) EXPECT_EQ(sum_planes(ranks), planes) << ranks;
}

TEST(Sums, AreTheIntegersForAnyNumberOfRanks) {
  for (std::size_t ranks = 1; ranks <= 300; ranks += ranks < 40 ? 1 : 43) {
    const Ranks given(700, ranks);
    const auto expected = planes_of(given.sums, static_cast<std::uint32_t>(ranks));
    for (const Isa isa : every_isa()) {
      EXPECT_EQ(summed(given.packets(), 700, isa), expected) << ranks << name(isa);
    }
  }
}

TEST(Sums, AreTheIntegersForEveryLength) {
  for (const std::size_t count : lengths()) {
    if (count == 0) continue;
    for (const std::size_t ranks : {1, 3, 8, 11}) {
      const Ranks given(count, ranks);
      const auto expected = planes_of(given.sums, static_cast<std::uint32_t>(ranks));
      for (const Isa isa : every_isa()) {
        EXPECT_EQ(summed(given.packets(), count, isa), expected) << count;
      }
      EXPECT_TRUE(check_sums(expected, count, static_cast<std::uint32_t>(ranks), Isa::scalar).ok());
    }
  }
}

TEST(Sums, OfNothingAreNothing) {
  for (const Isa isa : every_isa()) {
    EXPECT_TRUE(summed(RankPackets(0, {Packing::planes}).packets(), 0, isa).empty());
  }
  EXPECT_TRUE(check_sums({}, 0, 3, Isa::scalar).ok());
}

TEST(Sums, OfOneRankAreItsTrits) {
  const Ranks given(1000, 1);
  for (const Isa isa : every_isa()) {
    const auto sums = summed(given.packets(), 1000, isa);
    EXPECT_TRUE(std::ranges::equal(sums, given.packets()[0].payload));
  }
}

TEST(Sums, AreTheSameForEveryOrderOfTheRanks) {
  const Ranks given(513, 5);
  std::vector<std::size_t> order(5);
  std::iota(order.begin(), order.end(), 0);
  const auto expected = summed(given.packets(), 513, Isa::scalar);
  do {
    std::vector<Packet> packets;
    for (const std::size_t rank : order) packets.push_back(given.packets()[rank]);
    for (const Isa isa : every_isa()) ASSERT_EQ(summed(packets, 513, isa), expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Long ones are written past the cache.
TEST(Sums, OfManyElementsHaveTheSameBitsOnEveryInstructionSet) {
  constexpr std::size_t count = 450'000;
  SeededRandom random(3);
  std::vector<std::vector<std::uint64_t>> planes(8);
  std::vector<Packet> packets;
  for (auto& rank : planes) {
    rank.resize(planes_bytes(count) / 8);
    for (std::size_t block = 0; block < rank.size(); block += 16) {
      for (std::size_t word = block; word < block + 8; ++word) {
        rank[word] = random.next();
        rank[word + 8] = rank[word] & random.next();
      }
    }
    packets.push_back({Packing::planes, 1, std::as_bytes(std::span(rank))});
    const auto members = static_cast<std::uint32_t>(packets.size());
    std::vector<std::byte> sums(sum_bytes(count, members) + 64);
    void* start = sums.data();
    std::size_t space = sums.size();
    const auto aligned = std::span(static_cast<std::byte*>(std::align(64, 1, start, space)),
                                   sum_bytes(count, members));
    const auto expected = summed(packets, count, Isa::scalar);
    for (const Isa isa : every_isa()) {
      sum_trits(packets, aligned, isa);
      ASSERT_TRUE(std::ranges::equal(aligned, expected)) << members << name(isa);
    }
  }
}

TEST(Sums, ReachTheirLargestAndSmallestNumber) {
  for (const std::size_t ranks : {1, 2, 3, 7, 8, 9, 16, 127, 128, 255}) {
    for (const auto sign : {std::byte{0}, std::byte{0xFF}}) {
      std::vector<std::byte> trits(kPlaneBlockBytes, std::byte{0xFF});
      std::fill(trits.begin() + 64, trits.end(), sign);
      const std::vector<Packet> packets(ranks, Packet{Packing::planes, 1, trits});
      const int each = sign == std::byte{0} ? static_cast<int>(ranks) : -static_cast<int>(ranks);
      const auto expected =
          planes_of(std::vector<int>(kPlaneBlock, each), static_cast<std::uint32_t>(ranks));
      for (const Isa isa : every_isa()) EXPECT_EQ(summed(packets, kPlaneBlock, isa), expected);
    }
  }
}

TEST(Sums, OfAPeerAreCheckedNumberByNumber) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 7U, 8U, 100U, 255U}) {
    const int edge = 1 << (sum_planes(ranks) - 1);
    for (int number = -edge; number < edge; ++number) {
      std::vector<int> numbers(600, 0);
      numbers[number & 1 ? 599 : 77] = number;
      const bool fits = std::abs(number) <= static_cast<int>(ranks);
      for (const Isa isa : every_isa()) {
        EXPECT_EQ(check_sums(planes_of(numbers, ranks), 600, ranks, isa).ok(), fits)
            << ranks << number;
      }
    }
  }
}

TEST(Sums, OfAnotherSizeOrOverAnotherNumberOfRanksAreRefused) {
  const std::vector<std::byte> sums(sum_bytes(600, 8));
  EXPECT_TRUE(check_sums(sums, 600, 8, Isa::scalar).ok());
  EXPECT_FALSE(check_sums(std::span(sums).first(sums.size() - 1), 600, 8, Isa::scalar).ok());
  EXPECT_FALSE(check_sums(sums, 1025, 8, Isa::scalar).ok());
  EXPECT_FALSE(check_sums(sums, 600, 7, Isa::scalar).ok());
  EXPECT_FALSE(check_sums(sums, 600, 0, Isa::scalar).ok());
  EXPECT_FALSE(check_sums(sums, 600, 65537, Isa::scalar).ok());
  EXPECT_FALSE(check_sums(sums, 600, 0xFFFFFFFF, Isa::scalar).ok());
}

TEST(Sums, BehindTheLastElementMustBeZero) {
  for (const std::size_t stray : {600, 601, 1000, 1023}) {
    std::vector<int> numbers(1024, 0);
    numbers[stray] = 1;
    EXPECT_FALSE(check_sums(planes_of(numbers, 8), 600, 8, Isa::scalar).ok()) << stray;
    EXPECT_TRUE(check_sums(planes_of(numbers, 8), 1024, 8, Isa::scalar).ok()) << stray;
  }
}

TEST(DecodeSums, IsTheSumTimesTheScalerOfOneRank) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 11U, 255U}) {
    const Ranks given(1000, ranks);
    const auto sums = summed(given.packets(), 1000, best_isa());
    for (const Isa isa : every_isa()) {
      const auto values = decoded({ranks, 0.37F, sums}, 1000, isa);
      const float factor = 0.37F / static_cast<float>(ranks);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], static_cast<float>(given.sums[i]) * factor) << i;
      }
    }
  }
}

TEST(DecodeSums, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t count : lengths()) {
    const RankPackets given(count, Ranks::planes_of(7));
    std::vector<std::byte> sums = summed(given.packets(), count, Isa::scalar);
    sums.insert(sums.begin(), 3, std::byte{0xEE});
    for (const float scaler : {0.0F, 0x1p-95F, 0.21F, 1e30F}) {
      const SumPacket packet{7, scaler, std::span(sums).subspan(3)};
      for (const Isa isa : every_isa()) {
        EXPECT_EQ(bits(decoded(packet, count, isa)), bits(decoded(packet, count, Isa::scalar)))
            << count;
      }
    }
  }
}

}  // namespace
}  // namespace sterna::kernels
