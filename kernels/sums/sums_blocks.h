// Adding trits to, and decoding, whole blocks of sums, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/sums/sums.h"

namespace sterna::kernels {

/// Ranks that one pass over the sums adds at most.
inline constexpr std::size_t kSumGroup = 8;
inline constexpr std::size_t kMostSumPlanes = sum_planes(kMostSummedRanks);

/// The addition of `ranks` <= kSumGroup ranks' trits to `blocks` blocks: sums = before + trit + 2
/// per rank. A trit + 2, nonzero + 2 (1 - negative), is never negative, so adders without signs
/// will do; carries out of the last plane are dropped.
struct TritAddition {
  const std::byte* const* trits;  ///< each rank's first block
  std::size_t ranks;
  std::size_t blocks;
  std::size_t planes;
  const std::byte* before;
  std::size_t before_step;  ///< bytes between blocks of `before`: 0 where one serves all
  std::byte* sums;          ///< may be `before`
  bool past_cache;          ///< `sums` is too long to stay in the cache; 64-byte aligned then
};

/// What a rank that is not there adds: neither its nonzero bit nor its inverted negative bit is
/// set.
struct alignas(64) AbsentBlock {
  std::uint64_t nonzero[8] = {};
  std::uint64_t negative[8] = {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL};
};
inline constexpr AbsentBlock kAbsent;

void add_trits(const TritAddition& addition);
void add_trits_avx2(const TritAddition& addition);
void add_trits_avx512(const TritAddition& addition);

/// out = sum * factor, for `count` elements, of which the last block may hold fewer than 512.
void decode_sum_blocks(const std::byte* sums, std::size_t planes, float factor, std::size_t count,
                       float* out);
void decode_sum_blocks_avx2(const std::byte* sums, std::size_t planes, float factor,
                            std::size_t count, float* out);
void decode_sum_blocks_avx512(const std::byte* sums, std::size_t planes, float factor,
                              std::size_t count, float* out);

/// Whether any of the sums in `blocks` blocks is outside [-ranks, ranks].
bool out_of_range(const std::byte* sums, std::size_t blocks, std::size_t planes,
                  std::uint32_t ranks);
bool out_of_range_avx2(const std::byte* sums, std::size_t blocks, std::size_t planes,
                       std::uint32_t ranks);
bool out_of_range_avx512(const std::byte* sums, std::size_t blocks, std::size_t planes,
                         std::uint32_t ranks);

}  // namespace sterna::kernels
