// A block of 512 elements is 16 rows of 32 columns, a Philox call per column (ternary_avx512.cc);
// here eight columns go side by side, one byte of each row.
#include "kernels/random/philox_avx2.h"
#include "kernels/random/stream.h"
#include "kernels/trits/ternary_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlane = kPlaneBlockBytes / 2;
constexpr std::size_t kBlocksPerSum = kSigmaBlock / kPlaneBlock;

enum class Also { nothing, sum, max };

// The statistics of a pass: sum[0] and squares[0] of the columns 0 to 7 modulo 16, [1] of 8 to 15.
struct Seen {
  __m256 sum[2], squares[2];
  __m256i largest;
  std::uint64_t saturated;
};

// The words of the eight columns from counter word 0 = `first`.
STERNA_AVX2_INLINE EightWords column_words(std::uint32_t first, const BlockDraw& draw) {
  return philox_avx2(first, draw.step, draw.rank_tensor,
                     static_cast<std::uint32_t>(Stream::ternary), draw.key);
}

STERNA_AVX2_INLINE __m256i top_bit() { return _mm256_set1_epi32(-0x7FFFFFFF - 1); }

// The threshold minus 2^31, as a signed number: AVX2 knows signed conversions and compares only.
STERNA_AVX2_INLINE __m256i signed_threshold(__m256 t) {
  const __m256 two_to_31 = _mm256_set1_ps(0x1p31F);
  const __m256 upper = _mm256_cmp_ps(t, two_to_31, _CMP_NLT_UQ);
  const __m256i whole = _mm256_cvttps_epi32(_mm256_sub_ps(t, _mm256_and_ps(upper, two_to_31)));
  // Out of range the conversion gives -2^31, and one less is 2^31 - 1: the saturation.
  const __m256i saturated = _mm256_add_epi32(whole, _mm256_srai_epi32(whole, 31));
  return _mm256_xor_si256(saturated, _mm256_andnot_si256(_mm256_castps_si256(upper), top_bit()));
}

// Eight elements, and their bits of either plane.
STERNA_AVX2_INLINE void eight(const float* g, __m256 k, __m256i word, std::byte* nonzero, Also also,
                              __m256 scaler, Seen& seen, std::size_t half) {
  const __m256 x = _mm256_loadu_ps(g);
  const __m256 magnitude = _mm256_andnot_ps(_mm256_castsi256_ps(top_bit()), x);
  const __m256i t = signed_threshold(_mm256_mul_ps(magnitude, k));
  const __m256i below = _mm256_cmpgt_epi32(t, _mm256_xor_si256(word, top_bit()));
  const auto set = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(below)));
  const unsigned minus = static_cast<unsigned>(_mm256_movemask_ps(x)) & set;
  *nonzero = static_cast<std::byte>(set);
  *(nonzero + kPlane) = static_cast<std::byte>(minus);
  if (also == Also::nothing) return;
  const auto saturated =
      static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(magnitude, scaler, _CMP_GT_OQ)));
  seen.saturated += static_cast<unsigned>(__builtin_popcount(saturated));
  if (also == Also::sum) {
    seen.sum[half] = _mm256_add_ps(seen.sum[half], x);
    seen.squares[half] = _mm256_fmadd_ps(x, x, seen.squares[half]);
  } else {
    seen.largest = _mm256_max_epu32(seen.largest, _mm256_castps_si256(magnitude));
  }
}

STERNA_AVX2_INLINE void one_block(const float* g, BlockDraw draw, __m256 k, std::byte* nonzero,
                                  Also also, __m256 scaler, Seen& seen) {
  const __m256i rotate = _mm256_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3,
                                          0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
  alignas(32) __m256i words[4][4];
  for (unsigned group = 0; group < 4; ++group) {
    const EightWords columns = column_words(draw.counter0 + 8 * group, draw);
    for (std::size_t word = 0; word < 4; ++word) words[word][group] = columns.word[word];
  }
  for (std::size_t row = 0; row < 16; ++row) {
#pragma GCC unroll 4
    for (std::size_t group = 0; group < 4; ++group) {
      __m256i& word = words[row / 4][group];
      eight(g + 32 * row + 8 * group, k, word, nonzero + 4 * row + group, also, scaler, seen,
            group % 2);
      word = _mm256_shuffle_epi8(word, rotate);
    }
  }
}

STERNA_AVX2_INLINE void run_blocks(const BlockRun& run, Also also, PassTotals& totals) {
  const __m256 k = _mm256_set1_ps(run.k);
  const __m256 scaler = _mm256_set1_ps(run.scaler);
  BlockDraw draw = run.draw;
  Seen seen{{_mm256_setzero_ps(), _mm256_setzero_ps()},
            {_mm256_setzero_ps(), _mm256_setzero_ps()},
            _mm256_setzero_si256(),
            0};
  for (std::size_t block = 0; block < run.blocks; ++block) {
    LaneSums* sums =
        also == Also::sum ? totals.sums + (run.first + block) / kBlocksPerSum : nullptr;
    for (std::size_t half = 0; also == Also::sum && half < 2; ++half) {
      seen.sum[half] = _mm256_load_ps(sums->sum + 8 * half);
      seen.squares[half] = _mm256_load_ps(sums->squares + 8 * half);
    }
    one_block(run.gradient + block * kPlaneBlock, draw, k, run.planes + block * kPlaneBlockBytes,
              also, scaler, seen);
    for (std::size_t half = 0; also == Also::sum && half < 2; ++half) {
      _mm256_store_ps(sums->sum + 8 * half, seen.sum[half]);
      _mm256_store_ps(sums->squares + 8 * half, seen.squares[half]);
    }
    draw.counter0 += kDrawsPerBlock;
  }
  totals.saturated += seen.saturated;
  if (also != Also::max) return;
  std::uint32_t lanes[8];
  __builtin_memcpy(lanes, &seen.largest, sizeof lanes);
  for (const std::uint32_t lane : lanes) {
    if (lane > totals.largest) totals.largest = lane;
  }
}

STERNA_AVX2 void ternarize(const BlockRun& run) {
  PassTotals none;
  run_blocks(run, Also::nothing, none);
}

STERNA_AVX2 void ternarize_and_sum(const BlockRun& run, PassTotals& totals) {
  run_blocks(run, Also::sum, totals);
}

STERNA_AVX2 void ternarize_and_max(const BlockRun& run, PassTotals& totals) {
  run_blocks(run, Also::max, totals);
}

// All ones in lane l where bit l of `bits` is set.
STERNA_AVX2_INLINE __m256 lanes_of(std::byte bits) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i all = _mm256_set1_epi32(static_cast<int>(bits));
  return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(all, bit), bit));
}

STERNA_AVX2 void decode(const std::byte* planes, float scaler, float* out, std::size_t count) {
  const __m256 plus = _mm256_set1_ps(scaler);
  const __m256 minus = _mm256_set1_ps(-scaler);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::byte* nonzero = planes + i / kPlaneBlock * kPlaneBlockBytes + i % kPlaneBlock / 8;
    const __m256 value = _mm256_blendv_ps(plus, minus, lanes_of(*(nonzero + kPlane)));
    const __m256 v = _mm256_and_ps(lanes_of(*nonzero), value);
    if (i + 8 <= count) {
      _mm256_storeu_ps(out + i, v);
    } else {
      __builtin_memcpy(out + i, &v, (count - i) * sizeof(float));
    }
  }
}

}  // namespace

STERNA_AVX2 std::size_t count_nonzero_avx2(const std::byte* planes, std::size_t blocks) {
  std::size_t count = 0;
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlane; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      __builtin_memcpy(&word, planes + i, sizeof word);
      count += static_cast<std::size_t>(__builtin_popcountll(word));
    }
  }
  return count;
}

TernaryKernels avx2_ternary() { return {ternarize, ternarize_and_sum, ternarize_and_max, decode}; }

}  // namespace sterna::kernels
