// Ternarizing and decoding whole blocks of 512 elements, per instruction set. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/trits/scaler_blocks.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

/// The Philox counter and key of a run of blocks. Draw i of the block is at counter word 0 + i.
struct BlockDraw {
  std::uint32_t counter0;     ///< word 0 for element 0 of the first block
  std::uint32_t step;         ///< word 1
  std::uint32_t rank_tensor;  ///< word 2
  std::uint64_t key;
};

/// Counter words that a block uses: each serves 16 of its elements.
inline constexpr std::uint32_t draws_per_block = 32;

/// What a pass that ternarizes sees besides.
struct PassTotals {
  LaneSums* sums = nullptr;   ///< of clipping; added to, one per sigma_block from the chunk's start
  std::uint32_t largest = 0;  ///< without clipping: bits of max |g|
  std::uint64_t saturated = 0;
};

/// A run of whole blocks: which they are, and how they become trits.
struct BlockRun {
  const float* gradient;
  std::size_t blocks;
  std::size_t first;  ///< blocks of the chunk before these: where in `sums` they go
  float k;            ///< 2^32 / s, or 0 where s is too small: no trit is set
  float scaler;       ///< |g| above it is saturated
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

/// `ternarize` for a caller that knows what it reads next.
void ternarize(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
               std::uint64_t first_index, std::span<std::byte> planes, std::span<const float> ahead,
               Isa isa);

/// The same for one chunk, of which it takes the statistics that `clip` needs in the same pass:
/// those of measure_chunk, to the bit, with saturated elements counted besides.
/// What makes the next step's scaler while this step's is the last step's. `first_index` is a
/// multiple of chunk_elements. The chunk need not be finite: then its planes mean nothing, and the
/// statistics' scaler is the error.
ChunkStatistics ternarize_and_measure(std::span<const float> chunk, float scaler, float clip,
                                      const TernaryDraw& draw, std::uint64_t first_index,
                                      std::span<std::byte> planes, std::span<const float> ahead,
                                      Isa isa);

/// What to fetch while a pass over `gradient` is at element `from`: far enough for main memory,
/// near enough to be in L2 still when the pass gets there (8% faster than the hardware's own
/// guesses).
inline std::span<const float> a_little_ahead(std::span<const float> gradient, std::size_t from) {
  constexpr std::size_t distance = 8192;
  return gradient.subspan(std::min(gradient.size(), from + distance));
}

TernaryKernels ternary_kernels(Isa isa);
TernaryKernels scalar_ternary();
TernaryKernels avx2_ternary();
TernaryKernels avx512_ternary();

}  // namespace sterna::kernels
