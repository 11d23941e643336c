// As initializer_avx512.cc, eight elements at a time.
#include "kernels/isa/lanes_avx2.h"
#include "kernels/random/initializer_draws.h"
#include "kernels/random/philox_avx2.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kLanes = 8;

STERNA_AVX2_INLINE EightWords words_of(std::uint32_t first, std::uint32_t attempt,
                                       const InitialDraw& draw) {
  return philox_avx2(first, attempt, draw.tensor, static_cast<std::uint32_t>(Stream::initializer),
                     draw.seed);
}

STERNA_AVX2_INLINE __m256 one_plus(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_set1_ps(1), _mm256_mul_ps(a, b));
}

/// A word's upper 24 bits, which fp32 has exactly, over 2^24.
STERNA_AVX2_INLINE __m256 fraction(__m256i word) {
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(word, 8)), _mm256_set1_ps(0x1p-24F));
}

/// How far each uniform number lies above the probability that a draw is kept, to kUnsure: the bits
/// that `fraction` leaves out add 1e-6 at most.
STERNA_AVX2_INLINE __m256 above(__m256i where, __m256i uniform) {
  const __m256 x =
      _mm256_sub_ps(_mm256_mul_ps(fraction(where), _mm256_set1_ps(4)), _mm256_set1_ps(2));
  const __m256 z = _mm256_mul_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(-0.0625F));
  __m256 sum = one_plus(z, _mm256_set1_ps(1.0F / 5));
  sum = one_plus(_mm256_mul_ps(z, _mm256_set1_ps(1.0F / 4)), sum);
  sum = one_plus(_mm256_mul_ps(z, _mm256_set1_ps(1.0F / 3)), sum);
  sum = one_plus(_mm256_mul_ps(z, _mm256_set1_ps(0.5F)), sum);
  sum = one_plus(z, sum);
  for (int i = 0; i < 3; ++i) sum = _mm256_mul_ps(sum, sum);
  return _mm256_sub_ps(fraction(uniform), sum);
}

STERNA_AVX2_INLINE __m128 half_of_values(__m128i where, double scale) {
  const __m256d middle = _mm256_add_pd(as_doubles(where), _mm256_set1_pd(0.5));
  const __m256d x =
      _mm256_sub_pd(_mm256_mul_pd(middle, _mm256_set1_pd(0x1p-30)), _mm256_set1_pd(2));
  return _mm256_cvtpd_ps(_mm256_mul_pd(x, _mm256_set1_pd(scale)));
}

/// Positions from -2 to 2, times `scale`.
STERNA_AVX2_INLINE __m256 values_of(__m256i where, double scale) {
  const __m128 low = half_of_values(_mm256_castsi256_si128(where), scale);
  const __m128 high = half_of_values(_mm256_extracti128_si256(where, 1), scale);
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

STERNA_AVX2_INLINE unsigned mask_of(__m256 lanes) {
  return static_cast<unsigned>(_mm256_movemask_ps(lanes));
}

}  // namespace

STERNA_AVX2 void truncated_normal_avx2(float* out, std::size_t count, float stddev,
                                       const InitialDraw& draw) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const auto first = draw.first + static_cast<std::uint32_t>(i);
    const LiveLanes live = live_lanes(i, count);
    __m256i kept = _mm256_setzero_si256();
    __m256 waiting = _mm256_castsi256_ps(live.mask);
    __m256 unsure = _mm256_setzero_ps();
    for (std::uint32_t attempt = 0; mask_of(waiting) != 0; ++attempt) {
      const EightWords words = words_of(first, attempt, draw);
      for (int half = 0; half < 4; half += 2) {
        const __m256 over = above(words.word[half], words.word[half + 1]);
        const __m256 keeps =
            _mm256_and_ps(waiting, _mm256_cmp_ps(over, _mm256_set1_ps(-kUnsure), _CMP_LT_OQ));
        const __m256 drops =
            _mm256_and_ps(waiting, _mm256_cmp_ps(over, _mm256_set1_ps(kUnsure), _CMP_GT_OQ));
        kept = _mm256_blendv_epi8(kept, words.word[half], _mm256_castps_si256(keeps));
        unsure = _mm256_or_ps(unsure, _mm256_andnot_ps(_mm256_or_ps(keeps, drops), waiting));
        waiting = drops;
      }
    }
    store(out + i, live, values_of(kept, stddev));
    for (unsigned left = mask_of(unsure); left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(left));
      out[i + lane] = truncated_normal_of(first + lane, stddev, draw);
    }
  }
}

STERNA_AVX2 void uniform_avx2(float* out, std::size_t count, float limit, const InitialDraw& draw) {
  const double half = double{limit} / 2;  // exact, as the page's halving is
  for (std::size_t i = 0; i < count; i += kLanes * kUniformShares) {
    const std::uint32_t first = (draw.first + static_cast<std::uint32_t>(i)) / kUniformShares;
    const ElementWords words = element_words(words_of(first, 0, draw));
    for (std::size_t k = 0; k < kUniformShares && i + kLanes * k < count; ++k) {
      const std::size_t at = i + kLanes * k;
      store(out + at, live_lanes(at, count), values_of(words.eight[k], half));
    }
  }
}

}  // namespace sterna::kernels
