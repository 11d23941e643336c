// 32 elements at a time, which eight draws serve.
#include <limits>

#include "kernels/numbers/rows_blocks.h"
#include "kernels/random/philox_avx2.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kDraws = 8;
constexpr std::size_t kDrawn = 4 * kDraws;

STERNA_AVX2_INLINE __m128i four_levels(const RowLevels& how, __m128 row, __m128i words) {
  const __m256d above = _mm256_sub_pd(_mm256_cvtps_pd(row), _mm256_set1_pd(how.least));
  const __m256d uniform = _mm256_mul_pd(as_doubles(words), _mm256_set1_pd(0x1p-32));
  const __m256d place = _mm256_add_pd(_mm256_mul_pd(above, _mm256_set1_pd(how.places)), uniform);
  return _mm_min_epi32(_mm256_cvttpd_epi32(place), _mm_set1_epi32(static_cast<int>(how.most)));
}

STERNA_AVX2_INLINE __m256i eight_levels(const RowLevels& how, const float* row, __m256i words) {
  const __m256 values = _mm256_loadu_ps(row);
  const __m128i low =
      four_levels(how, _mm256_castps256_ps128(values), _mm256_castsi256_si128(words));
  const __m128i high =
      four_levels(how, _mm256_extractf128_ps(values, 1), _mm256_extracti128_si256(words, 1));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/// The least number of the lanes; turn all signs for the largest.
STERNA_AVX2_INLINE float least_of(__m256 lanes) {
  __m128 x = _mm_min_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  x = _mm_min_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_min_ss(x, _mm_movehdup_ps(x)));
}

}  // namespace

STERNA_AVX2 RowEnds row_ends_avx2(const float* row, std::size_t count) {
  if (count < kLanes) return row_ends(row, count);
  const __m256 sign = _mm256_set1_ps(-0.0F);
  const __m256 none = _mm256_set1_ps(std::numeric_limits<float>::infinity());
  __m256 least = none;
  __m256 turned = none;  // the largest, its sign turned
  __m256 endless = _mm256_setzero_ps();
  for (std::size_t i = 0; i < count; i += kLanes) {
    // The last vector reaches back into the one before it.
    const __m256 x = _mm256_loadu_ps(row + (i + kLanes <= count ? i : count - kLanes));
    least = _mm256_min_ps(least, x);
    turned = _mm256_min_ps(turned, _mm256_xor_ps(x, sign));
    endless = _mm256_or_ps(endless, _mm256_cmp_ps(_mm256_andnot_ps(sign, x), none, _CMP_NLT_UQ));
  }
  if (_mm256_movemask_ps(endless) != 0) return row_ends(row, count);
  return {least_of(least) + 0.0F, 0.0F - least_of(turned)};
}

STERNA_AVX2 void row_levels_avx2(const RowLevels& how, const float* row, std::size_t count,
                                 std::uint64_t first, std::uint8_t* levels) {
  if (first % 4 != 0) return row_levels(how, row, count, first, levels);
  // Packing twice interleaves the vectors' halves, four levels at a time.
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  std::size_t i = 0;
  for (; i + kDrawn <= count; i += kDrawn) {
    const auto counter = static_cast<std::uint32_t>((first + i) / 4);
    const ElementWords words =
        element_words(philox_avx2(counter, how.draw.step, how.draw.rank << 16U | how.draw.tensor,
                                  static_cast<std::uint32_t>(Stream::rows), how.draw.seed));
    const __m256i low = _mm256_packus_epi32(eight_levels(how, row + i, words.eight[0]),
                                            eight_levels(how, row + i + kLanes, words.eight[1]));
    const __m256i high =
        _mm256_packus_epi32(eight_levels(how, row + i + 2 * kLanes, words.eight[2]),
                            eight_levels(how, row + i + 3 * kLanes, words.eight[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(levels + i),
                        _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), in_order));
  }
  row_levels(how, row + i, count - i, first + i, levels + i);
}

}  // namespace sterna::kernels
