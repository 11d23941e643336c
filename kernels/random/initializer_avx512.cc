// Sixteen elements at a time, attempt after attempt until each has kept a draw.
#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/random/initializer_draws.h"
#include "kernels/random/philox.h"
#include "kernels/random/philox_avx512.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {
namespace {

struct Halves {
  __m512i lower, upper;
};

STERNA_AVX512_INLINE Halves product(__m512i a, std::uint32_t b) {
  const __m512i factor = _mm512_set1_epi64(b);
  const __m512i even = _mm512_mul_epu32(a, factor);
  const __m512i odd = _mm512_mul_epu32(upper(a), factor);
  return {join_lower(even, odd), join_upper(even, odd)};
}

STERNA_AVX512_INLINE __m512i all(std::uint32_t value) {
  return _mm512_set1_epi32(static_cast<int>(value));
}

/// philox({elements, attempt, tensor, stream}, seed)
STERNA_AVX512_INLINE ColumnWords words_of(__m512i elements, std::uint32_t attempt,
                                          const InitialDraw& draw) {
  __m512i w0 = elements;
  __m512i w1 = all(attempt);
  __m512i w2 = all(draw.tensor);
  __m512i w3 = all(static_cast<std::uint32_t>(Stream::initializer));
  auto key0 = static_cast<std::uint32_t>(draw.seed);
  auto key1 = static_cast<std::uint32_t>(draw.seed >> 32);
  for (int round = 0; round < Philox::kRounds; ++round) {
    const Halves product0 = product(w0, Philox::kMultiplier0);
    const Halves product1 = product(w2, Philox::kMultiplier1);
    w0 = xor3(product1.upper, w1, all(key0));
    w1 = product1.lower;
    w2 = xor3(product0.upper, w3, all(key1));
    w3 = product0.lower;
    key0 += Philox::kWeyl0;
    key1 += Philox::kWeyl1;
  }
  return {{w0, w1, w2, w3}};
}

STERNA_AVX512_INLINE __m512 one_plus(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_set1_ps(1), _mm512_mul_ps(a, b));
}

/// How far each uniform number lies above the probability that a draw is kept, to kUnsure.
STERNA_AVX512_INLINE __m512 above(__m512i where, __m512i uniform) {
  const __m512 x = _mm512_sub_ps(_mm512_mul_ps(_mm512_cvtepu32_ps(where), _mm512_set1_ps(0x1p-30F)),
                                 _mm512_set1_ps(2));
  const __m512 z = _mm512_mul_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(-0.0625F));
  __m512 sum = one_plus(z, _mm512_set1_ps(1.0F / 5));
  sum = one_plus(_mm512_mul_ps(z, _mm512_set1_ps(1.0F / 4)), sum);
  sum = one_plus(_mm512_mul_ps(z, _mm512_set1_ps(1.0F / 3)), sum);
  sum = one_plus(_mm512_mul_ps(z, _mm512_set1_ps(0.5F)), sum);
  sum = one_plus(z, sum);
  for (int i = 0; i < 3; ++i) sum = _mm512_mul_ps(sum, sum);
  return _mm512_sub_ps(_mm512_mul_ps(_mm512_cvtepu32_ps(uniform), _mm512_set1_ps(0x1p-32F)), sum);
}

STERNA_AVX512_INLINE __m256 half_of_values(__m256i where, double scale) {
  const __m512d middle = _mm512_add_pd(_mm512_cvtepu32_pd(where), _mm512_set1_pd(0.5));
  const __m512d x =
      _mm512_sub_pd(_mm512_mul_pd(middle, _mm512_set1_pd(0x1p-30)), _mm512_set1_pd(2));
  return _mm512_cvtpd_ps(_mm512_mul_pd(x, _mm512_set1_pd(scale)));
}

/// Positions from -2 to 2, times `scale`.
STERNA_AVX512_INLINE __m512 values_of(__m512i where, double scale) {
  const __m256 low = half_of_values(_mm512_castsi512_si256(where), scale);
  const __m256 high = half_of_values(_mm512_extracti32x8_epi32(where, 1), scale);
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

}  // namespace

STERNA_AVX512 void truncated_normal_avx512(float* out, std::size_t count, float stddev,
                                           const InitialDraw& draw) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (std::size_t i = 0; i < count; i += 16) {
    const auto first = draw.first + static_cast<std::uint32_t>(i);
    const __mmask16 live = lanes(i, count);
    const __m512i elements = _mm512_add_epi32(all(first), steps);
    __m512i kept = _mm512_setzero_si512();
    __mmask16 waiting = live;
    __mmask16 unsure = 0;
    for (std::uint32_t attempt = 0; waiting != 0; ++attempt) {
      const ColumnWords words = words_of(elements, attempt, draw);
      for (int half = 0; half < 4; half += 2) {
        const __m512 over = above(words.word[half], words.word[half + 1]);
        const __mmask16 keeps =
            _mm512_mask_cmp_ps_mask(waiting, over, _mm512_set1_ps(-kUnsure), _CMP_LT_OQ);
        const __mmask16 drops =
            _mm512_mask_cmp_ps_mask(waiting, over, _mm512_set1_ps(kUnsure), _CMP_GT_OQ);
        kept = _mm512_mask_mov_epi32(kept, keeps, words.word[half]);
        unsure = static_cast<__mmask16>(unsure | (waiting & ~(keeps | drops)));
        waiting = drops;
      }
    }
    _mm512_mask_storeu_ps(out + i, live, values_of(kept, stddev));
    for (std::uint32_t left = unsure; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(left));
      out[i + lane] = truncated_normal_of(first + lane, stddev, draw);
    }
  }
}

STERNA_AVX512 void uniform_avx512(float* out, std::size_t count, float limit,
                                  const InitialDraw& draw) {
  // Lane 4 l + k holds draw 4 k + l: then, once the words of each lane stand together, vector k has
  // elements 16 k to 16 k + 15.
  const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const double half = double{limit} / 2;  // exact, as the page's halving is
  for (std::size_t i = 0; i < count; i += std::size_t{16} * kUniformShares) {
    const std::uint32_t first = (draw.first + static_cast<std::uint32_t>(i)) / kUniformShares;
    const ColumnWords words = words_of(_mm512_add_epi32(all(first), places), 0, draw);
    const __m512i low01 = _mm512_unpacklo_epi32(words.word[0], words.word[1]);
    const __m512i high01 = _mm512_unpackhi_epi32(words.word[0], words.word[1]);
    const __m512i low23 = _mm512_unpacklo_epi32(words.word[2], words.word[3]);
    const __m512i high23 = _mm512_unpackhi_epi32(words.word[2], words.word[3]);
    const __m512i elements[kUniformShares] = {
        _mm512_unpacklo_epi64(low01, low23), _mm512_unpackhi_epi64(low01, low23),
        _mm512_unpacklo_epi64(high01, high23), _mm512_unpackhi_epi64(high01, high23)};
    for (std::size_t k = 0; k < kUniformShares && i + 16 * k < count; ++k) {
      _mm512_mask_storeu_ps(out + i + 16 * k, lanes(i + 16 * k, count),
                            values_of(elements[k], half));
    }
  }
}

}  // namespace sterna::kernels
