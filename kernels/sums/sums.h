// Sums of trits over ranks that share one scaler: integers in bit-planes, exact and the same for
// every order of the ranks. Layout and test vectors: kernels/trits/TRITS.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/sums/aggregate.h"
#include "kernels/trits/ternary.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

inline constexpr std::uint32_t kMostSummedRanks = 65536;

/// B = ceil(log2(2K + 1)): the planes of a two's complement integer from -K to K, K >= 1. One
/// rank's two planes are its trits.
constexpr std::size_t sum_planes(std::uint32_t ranks) {
  return static_cast<std::size_t>(std::bit_width(ranks)) + 1;
}

/// The bytes that the sums of `count` elements over `ranks` ranks take: whole blocks.
constexpr std::size_t sum_bytes(std::size_t count, std::uint32_t ranks) {
  return planes_bytes(count) / 2 * sum_planes(ranks);
}

/// Fills `sums` (exactly sum_bytes(n, number of packets) bytes) with the sums of the packets'
/// trits: all of them planes of n elements, at least one and at most kMostSummedRanks.
void sum_trits(std::span<const Packet> packets, std::span<std::byte> sums, Isa isa);

/// Whether a peer's bytes are the sums of `count` elements over `ranks` ranks: the exact size, each
/// sum within [-ranks, ranks], and 0 behind the last element. Errc::malformed otherwise.
Result<void> check_sums(std::span<const std::byte> sums, std::size_t count, std::uint32_t ranks,
                        Isa isa);

/// The sums of a step's packets, and what makes an average of them. The payload is borrowed, may
/// lie at any alignment, and was checked when it was received.
struct SumPacket {
  std::uint32_t ranks = 1;
  float scaler = 0;  ///< the one that the ranks shared
  std::span<const std::byte> payload;
};

/// out = sum * (scaler / ranks): one fp32 division for all, then one fp32 product per element. The
/// server and the workers step with these bits.
void decode_sums(const SumPacket& sums, std::span<float> out, Isa isa);

}  // namespace sterna::kernels
