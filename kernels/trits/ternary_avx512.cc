// A block of 512 elements is 16 rows of 32 elements; column i has one Philox call, of which row j
// takes word j / 4, rotated. So 32 calls, one per column, side by side in vector lanes, serve the
// block without a transpose, and each row gives 32 bits of either plane.
#include "kernels/random/philox_avx512.h"
#include "kernels/trits/ternary_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlane = kPlaneBlockBytes / 2;
constexpr std::size_t kBlocksPerSum = kSigmaBlock / kPlaneBlock;

// Which statistics a pass takes beside its trits; a constant wherever the pass is inlined.
enum class Also { nothing, sum, max };

// The statistics of a pass: sums and maximum in registers, and in memory a bit for each saturated
// element of a block, counted there (6% faster than a vector of counts).
struct Seen {
  __m512 sum, squares;
  __m512i largest;
  std::byte* saturated;
};

// 16 elements. The masks go to memory as they are: joining them would take the busiest port.
STERNA_AVX512_INLINE void half_row(const float* g, const float* ahead, __m512 k, __m512i word,
                                   std::byte* nonzero, Also also, __m512 scaler, Seen& seen,
                                   std::size_t at) {
  _mm_prefetch(ahead, _MM_HINT_T1);  // L1 has too few places for what it misses
  const __m512 x = _mm512_loadu_ps(g);
  const __m512 magnitude = _mm512_abs_ps(x);
  // Out of range, the conversion gives 2^32 - 1: the saturation of the definition.
  const __m512i t = _mm512_cvttps_epu32(_mm512_mul_ps(magnitude, k));
  const __mmask16 set = _mm512_cmplt_epu32_mask(word, t);
  const __mmask16 minus =
      _mm512_mask_cmplt_epi32_mask(set, _mm512_castps_si512(x), _mm512_setzero_si512());
  __builtin_memcpy(nonzero + at, &set, sizeof set);
  __builtin_memcpy(nonzero + kPlane + at, &minus, sizeof minus);
  if (also == Also::nothing) return;
  const __mmask16 saturated = _mm512_cmp_ps_mask(magnitude, scaler, _CMP_GT_OQ);
  __builtin_memcpy(seen.saturated + at, &saturated, sizeof saturated);
  if (also == Also::max) {
    seen.largest = _mm512_max_epu32(seen.largest, _mm512_castps_si512(magnitude));
  }
}

// Vectors `begin` to `end` - 1 of the 32 of a block. Their sums are chains of additions that would
// fill the scheduler if they stood close together, so each round of Philox takes some.
STERNA_AVX512_INLINE void add_vectors(const float* g, std::size_t begin, std::size_t end,
                                      Seen& seen) {
  for (std::size_t i = begin; i < end; ++i) {
    __m512 x = _mm512_loadu_ps(g + 16 * i);
    asm("" : "+v"(x));  // one load, as in scaler_avx512.cc
    seen.sum = _mm512_add_ps(seen.sum, x);
    seen.squares = _mm512_fmadd_ps(x, x, seen.squares);
  }
}

STERNA_AVX512_INLINE void one_block(const float* g, const float* ahead, std::uint32_t base,
                                    const ColumnPlan& plan, __m512 k, std::byte* nonzero, Also also,
                                    __m512 scaler, Seen& seen) {
  BlockLanes lanes = begin_block(base, plan);
#pragma GCC unroll 7
  for (int round = 2; round <= 8; ++round) {
    next_round(lanes, plan, round);
    if (also == Also::sum) {
      const auto done = static_cast<std::size_t>(round - 2);
      add_vectors(g, 32 * done / 7, 32 * (done + 1) / 7, seen);
    }
  }
  const BlockWords words = end_block(lanes, plan);
#pragma GCC unroll 4
  for (std::size_t word = 0; word < 4; ++word) {
    __m512i low = words.low.word[word];
    __m512i high = words.high.word[word];
#pragma GCC unroll 4
    for (std::size_t row = 4 * word; row < 4 * word + 4; ++row) {
      half_row(g + 32 * row, ahead + 32 * row, k, low, nonzero, also, scaler, seen, 4 * row);
      half_row(g + 32 * row + 16, ahead + 32 * row + 16, k, high, nonzero, also, scaler, seen,
               4 * row + 2);
      low = _mm512_rol_epi32(low, 8);
      high = _mm512_rol_epi32(high, 8);
    }
  }
}

STERNA_AVX512_INLINE std::uint64_t ones(const std::byte* bits) {
  std::uint64_t count = 0;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kPlane; i += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, bits + i, sizeof word);
    count += static_cast<std::uint64_t>(__builtin_popcountll(word));
  }
  return count;
}

STERNA_AVX512_INLINE void run_blocks(const BlockRun& run, Also also, PassTotals& totals) {
  const __m512 k = _mm512_set1_ps(run.k);
  const __m512 scaler = _mm512_set1_ps(run.scaler);
  const ColumnPlan plan = plan_columns(run.draw);
  std::uint32_t base = run.draw.counter0;
  // Of this block and of the one before.
  alignas(64) std::byte saturated[2 * kPlane];
  Seen seen{_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_si512(), saturated};
  for (std::size_t block = 0; block < run.blocks;) {
    // As many as share a LaneSums.
    const std::size_t place = run.first + block;
    std::size_t group = kBlocksPerSum - place % kBlocksPerSum;
    if (group > run.blocks - block) group = run.blocks - block;
    if (also == Also::sum) {
      seen.sum = _mm512_load_ps(totals.sums[place / kBlocksPerSum].sum);
      seen.squares = _mm512_load_ps(totals.sums[place / kBlocksPerSum].squares);
    }
    for (std::size_t end = block + group; block < end; ++block) {
      std::byte* planes = run.planes + block * kPlaneBlockBytes;
      const float* g = run.gradient + block * kPlaneBlock;
      const float* ahead = run.ahead + block * kPlaneBlock;
      seen.saturated = saturated + block % 2 * kPlane;
      one_block(g, ahead, base, plan, k, planes, also, scaler, seen);
      base += kDrawsPerBlock;
      // One block late, when the masks have reached the cache.
      if (also != Also::nothing && block > 0) {
        totals.saturated += ones(saturated + (block - 1) % 2 * kPlane);
      }
    }
    if (also == Also::sum) {
      _mm512_store_ps(totals.sums[place / kBlocksPerSum].sum, seen.sum);
      _mm512_store_ps(totals.sums[place / kBlocksPerSum].squares, seen.squares);
    }
  }
  if (also == Also::nothing || run.blocks == 0) return;
  totals.saturated += ones(seen.saturated);
  const std::uint32_t largest = _mm512_reduce_max_epu32(seen.largest);
  if (largest > totals.largest) totals.largest = largest;
}

STERNA_AVX512 void ternarize(const BlockRun& run) {
  PassTotals none;
  run_blocks(run, Also::nothing, none);
}

STERNA_AVX512 void ternarize_and_sum(const BlockRun& run, PassTotals& totals) {
  run_blocks(run, Also::sum, totals);
}

STERNA_AVX512 void ternarize_and_max(const BlockRun& run, PassTotals& totals) {
  run_blocks(run, Also::max, totals);
}

STERNA_AVX512 void decode(const std::byte* planes, float scaler, float* out, std::size_t count) {
  const __m512 plus = _mm512_set1_ps(scaler);
  const __m512 minus = _mm512_set1_ps(-scaler);
  for (std::size_t i = 0; i < count; i += 16) {
    const std::byte* nonzero = planes + i / kPlaneBlock * kPlaneBlockBytes + i % kPlaneBlock / 8;
    __mmask16 set = 0;
    __mmask16 negative = 0;
    __builtin_memcpy(&set, nonzero, sizeof set);
    __builtin_memcpy(&negative, nonzero + kPlane, sizeof negative);
    const __m512 v = _mm512_maskz_mov_ps(set, _mm512_mask_blend_ps(negative, plus, minus));
    if (i + 16 <= count) {
      _mm512_storeu_ps(out + i, v);
    } else {
      _mm512_mask_storeu_ps(out + i, static_cast<__mmask16>((1U << (count - i)) - 1U), v);
    }
  }
}

}  // namespace

STERNA_AVX512 std::size_t count_nonzero_avx512(const std::byte* planes, std::size_t blocks) {
  std::size_t count = 0;
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) count += ones(planes);
  return count;
}

TernaryKernels avx512_ternary() {
  return {ternarize, ternarize_and_sum, ternarize_and_max, decode};
}

}  // namespace sterna::kernels
