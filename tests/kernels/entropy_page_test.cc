// The vectors of kernels/entropy/ENTROPY.md, read from the page itself.
#include <gtest/gtest.h>

#include "gradients.h"
#include "kernels/entropy/entropy.h"
#include "kernels/entropy/entropy_model.h"
#include "page.h"

namespace sterna::kernels {
namespace {

std::vector<std::byte> page_sums(const Vector& v) {
  const auto g = page_gradient(0, v.number(4));
  const auto ranks = static_cast<std::uint32_t>(v.number(5));
  std::vector<std::vector<std::byte>> trits(ranks);
  std::vector<Packet> packets;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const TernaryDraw draw{v.hex(1), static_cast<std::uint32_t>(v.number(2)), rank,
                           static_cast<std::uint32_t>(v.number(3))};
    trits[rank].resize(planes_bytes(g.size()));
    ternarize(g, v.real(0), draw, 0, trits[rank], best_isa());
    packets.push_back({Packing::planes, v.real(0), trits[rank]});
  }
  std::vector<std::byte> sums(sum_bytes(g.size(), ranks));
  sum_trits(packets, sums, best_isa());
  return sums;
}

TEST(EntropyPage, SlotsAreThePages) {
  for (const Vector& v : vectors_of(STERNA_ENTROPY_PAGE, "slots")) {
    const RansFrequencies slots = frequencies_of(static_cast<TritModel>(v.hex(0)));
    std::vector<std::byte> bytes;
    for (std::size_t s = 0; s < slots.size(); ++s) {
      bytes.push_back(static_cast<std::byte>(slots[s]));
      bytes.push_back(static_cast<std::byte>(slots[s] >> 8));
    }
    for (std::size_t s = 0; s < 8; ++s) {
      EXPECT_EQ(std::to_string(slots[s]), v.expected[s]) << v.given[0];
    }
    EXPECT_EQ(hex(fnv1a(bytes), 16), v.expected[8]) << v.given[0];
  }
}

TEST(EntropyPage, CodedPlanesAreThePages) {
  for (const Vector& v : vectors_of(STERNA_ENTROPY_PAGE, "coded")) {
    const std::size_t count = v.number(4);
    const auto ranks = static_cast<std::uint32_t>(v.number(5));
    const auto planes = page_sums(v);
    for (const Isa isa : every_isa()) {
      std::vector<std::byte> coded(entropy_room(count, ranks));
      coded.resize(entropy_encode(planes, count, ranks, coded, isa));
      EXPECT_EQ(std::to_string(coded.size()), v.expected[0]) << name(isa);
      EXPECT_EQ(hex(std::span(coded).first(8)), v.expected[1]) << name(isa);
      EXPECT_EQ(hex(fnv1a(coded), 16), v.expected[2]) << name(isa);
    }
  }
}

}  // namespace
}  // namespace sterna::kernels
