// Sixteen channels at a time.
#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "nets/cpu/lrn_passes.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kLanes = 16;

STERNA_AVX512_INLINE __m512 window_sum(const LrnRows& norm, const float* row, std::size_t k) {
  __m512 sum = _mm512_loadu_ps(row + k);
  for (std::size_t d = 1; d <= 2 * norm.radius; ++d) {
    sum = _mm512_add_ps(sum, _mm512_loadu_ps(row + k + d));
  }
  return sum;
}

STERNA_AVX512 void square(const LrnRows& norm, std::size_t pixels, const float* x, float* rows) {
  for (std::size_t i = 0; i < pixels; ++i, x += norm.channels, rows += norm.stride) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __m512 value = _mm512_maskz_loadu_ps(kernels::lanes(k, norm.channels), x + k);
      _mm512_storeu_ps(rows + norm.radius + k, _mm512_mul_ps(value, value));
    }
  }
}

/// base^-1/4, whose powers are cheaper than further divisions.
STERNA_AVX512_INLINE __m512 fourth_root_under_one(const LrnRows& norm, const float* squares,
                                                  std::size_t k) {
  const __m512 sum = _mm512_mul_ps(_mm512_set1_ps(norm.alpha), window_sum(norm, squares, k));
  const __m512 base = _mm512_add_ps(_mm512_set1_ps(norm.bias), sum);
  return _mm512_div_ps(_mm512_set1_ps(1), _mm512_sqrt_ps(_mm512_sqrt_ps(base)));
}

STERNA_AVX512 void normalize(const LrnRows& norm, std::size_t pixels, const float* squares,
                             float* x) {
  for (std::size_t i = 0; i < pixels; ++i, x += norm.channels, squares += norm.stride) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __mmask16 live = kernels::lanes(k, norm.channels);
      const __m512 under = fourth_root_under_one(norm, squares, k);
      const __m512 factor = _mm512_mul_ps(under, _mm512_mul_ps(under, under));
      _mm512_mask_storeu_ps(x + k, live, _mm512_mul_ps(_mm512_maskz_loadu_ps(live, x + k), factor));
    }
  }
}

STERNA_AVX512 void scale(const LrnRows& norm, std::size_t pixels, const float* x,
                         const float* squares, float* dy, float* products) {
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __mmask16 live = kernels::lanes(k, norm.channels);
      const __m512 under = fourth_root_under_one(norm, squares, k);
      const __m512 factor = _mm512_mul_ps(under, _mm512_mul_ps(under, under));
      const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, dy + k), factor);
      _mm512_mask_storeu_ps(dy + k, live, scaled);
      const __m512 product = _mm512_mul_ps(scaled, _mm512_maskz_loadu_ps(live, x + k));
      _mm512_storeu_ps(products + norm.radius + k,
                       _mm512_maskz_mul_ps(live, product, _mm512_mul_ps(under, factor)));
    }
    x += norm.channels;
    dy += norm.channels;
    squares += norm.stride;
    products += norm.stride;
  }
}

STERNA_AVX512 void subtract(const LrnRows& norm, std::size_t pixels, const float* x,
                            const float* products, float* dx) {
  const __m512 share = _mm512_set1_ps(1.5F * norm.alpha);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __mmask16 live = kernels::lanes(k, norm.channels);
      const __m512 value = _mm512_mul_ps(share, _mm512_maskz_loadu_ps(live, x + k));
      const __m512 others = _mm512_mul_ps(value, window_sum(norm, products, k));
      _mm512_mask_storeu_ps(dx + k, live,
                            _mm512_sub_ps(_mm512_maskz_loadu_ps(live, dx + k), others));
    }
    x += norm.channels;
    dx += norm.channels;
    products += norm.stride;
  }
}

}  // namespace

LrnPasses lrn_passes_avx512() { return {square, normalize, scale, subtract}; }

}  // namespace sterna::nets
