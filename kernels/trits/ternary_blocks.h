// Ternarizing and decoding whole blocks of 512 elements, per instruction set. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/random/philox.h"
#include "kernels/trits/scaler_blocks.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

/// The statistics that a pass takes while it ternarizes; it adds to what is there.
struct PassTotals {
  LaneSums* sums = nullptr;     ///< with clipping: one per kSigmaBlock from the chunk's start
  std::uint32_t largest = 0;    ///< without clipping: the bits of max |g|
  std::uint64_t saturated = 0;  ///< elements above the scaler
};

/// A run of whole blocks: which they are, and how they become trits.
struct BlockRun {
  const float* gradient;
  std::size_t blocks;
  std::size_t first;  ///< blocks of the chunk before these: where in `sums` they go
  float k;            ///< 2^32 / s, or 0 where s is too small: no trit is set
  float scaler;       ///< an element with |g| above it is saturated
  BlockDraw draw;     ///< of the first of these blocks
  std::byte* planes;
  const float* ahead;  ///< as many blocks, for the cache to fetch meanwhile; or `gradient` itself
};

struct TernaryKernels {
  void (*ternarize)(const BlockRun& run);
  void (*ternarize_and_sum)(const BlockRun& run, PassTotals& totals);
  void (*ternarize_and_max)(const BlockRun& run, PassTotals& totals);
  /// `count` elements, of which the last block may hold fewer than 512.
  void (*decode)(const std::byte* planes, float scaler, float* out, std::size_t count);
};

/// As ternarize of ternary.h, for a caller that knows what it reads next: `ahead` is fetched into
/// the cache meanwhile.
void ternarize(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
               std::uint64_t first_index, std::span<std::byte> planes, std::span<const float> ahead,
               Isa isa);

/// Ternarizes one chunk under a given scaler and, in the same pass over memory, measures it; equals
/// measure_chunk(chunk, clip, isa) bit for bit, with the elements above the scaler counted besides.
/// `first_index` is a multiple of kChunkElements. The chunk need not be finite: then its planes
/// mean nothing, and the statistics' scaler is the error.
ChunkStatistics ternarize_and_measure(std::span<const float> chunk, float scaler, float clip,
                                      const TernaryDraw& draw, std::uint64_t first_index,
                                      std::span<std::byte> planes, std::span<const float> ahead,
                                      Isa isa);

/// What to fetch while a pass over `gradient` is at element `from`: far enough for main memory,
/// near enough to be in L2 still when the pass gets there (8% faster than the hardware's own
/// guesses).
inline std::span<const float> a_little_ahead(std::span<const float> gradient, std::size_t from) {
  constexpr std::size_t kDistance = 8192;
  return gradient.subspan(std::min(gradient.size(), from + kDistance));
}

/// How many trits of `blocks` blocks are not 0.
std::size_t count_nonzero(const std::byte* planes, std::size_t blocks);
std::size_t count_nonzero_avx2(const std::byte* planes, std::size_t blocks);
std::size_t count_nonzero_avx512(const std::byte* planes, std::size_t blocks);

TernaryKernels ternary_kernels(Isa isa);
TernaryKernels scalar_ternary();
TernaryKernels avx2_ternary();
TernaryKernels avx512_ternary();

}  // namespace sterna::kernels
