#include "kernels/sums/aggregate.h"

#include <gtest/gtest.h>

#include "packets.h"

namespace sterna::kernels {
namespace {

std::vector<float> averaged(std::span<const Packet> packets, std::size_t n, Isa isa) {
  std::vector<float> out(n, 99.0F);
  average(packets, out, isa);
  return out;
}

TEST(Average, IsTheSumInRankOrderOverTheNumberOfPackets) {
  for (const auto& packing : packings()) {
    const RankPackets ranks(4097, packing);
    std::vector<float> expected(4097, 0.0F);
    for (const auto& values : ranks.values()) {
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += values[i];
    }
    for (float& value : expected) value /= static_cast<float>(packing.size());
    EXPECT_EQ(bits(averaged(ranks.packets(), 4097, Isa::scalar)), bits(expected));
  }
}

TEST(Average, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t n : lengths()) {
    for (const auto& packing : packings()) {
      const RankPackets ranks(n, packing);
      for (const Isa isa : every_isa()) {
        EXPECT_EQ(bits(averaged(ranks.packets(), n, isa)),
                  bits(averaged(ranks.packets(), n, Isa::scalar)))
            << n;
      }
    }
  }
}

TEST(Average, OfAnyNumberOfPacketsHasTheSameBitsOnEveryInstructionSet) {
  for (std::size_t count = 1; count <= 33; ++count) {
    const RankPackets ranks(300, std::vector<Packing>(count, Packing::fp32));
    for (const Isa isa : every_isa()) {
      EXPECT_EQ(bits(averaged(ranks.packets(), 300, isa)),
                bits(averaged(ranks.packets(), 300, Isa::scalar)))
          << count;
    }
  }
}

TEST(Average, KeepsZerosAndDenormalsBitForBit) {
  auto values = any_finite(4000, 9);
  for (float& x : values) x = std::fmod(x, 1e30F);
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<Packet> packets{{Packing::fp32, 0, bytes}, {Packing::fp32, 0, bytes}};
  for (const Isa isa : every_isa()) {
    const auto out = averaged(packets, values.size(), isa);
    EXPECT_EQ(bits(out), bits(averaged(packets, values.size(), Isa::scalar)));
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(out[i], values[i]);
  }
}

TEST(Average, DependsOnTheOrderOfTheRanks) {
  const std::vector<float> a{1e8F};
  const std::vector<float> b{-1e8F};
  const std::vector<float> c{1.0F};
  const auto packet = [](const std::vector<float>& x) {
    return Packet{Packing::fp32, 0, std::as_bytes(std::span(x))};
  };
  for (const Isa isa : every_isa()) {
    EXPECT_EQ(averaged(std::vector{packet(a), packet(b), packet(c)}, 1, isa)[0], 1.0F / 3.0F);
    EXPECT_EQ(averaged(std::vector{packet(a), packet(c), packet(b)}, 1, isa)[0], 0.0F);
  }
}

}  // namespace
}  // namespace sterna::kernels
