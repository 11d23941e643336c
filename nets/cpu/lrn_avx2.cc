// Eight channels at a time.
#include "kernels/isa/lanes_avx2.h"
#include "nets/cpu/lrn_passes.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kLanes = 8;

/// Zeros in the lanes that are not live.
STERNA_AVX2_INLINE __m256 only(const kernels::LiveLanes& live, __m256 values) {
  return _mm256_and_ps(values, _mm256_castsi256_ps(live.mask));
}

STERNA_AVX2_INLINE __m256 window_sum(const LrnRows& norm, const float* row, std::size_t k) {
  __m256 sum = _mm256_loadu_ps(row + k);
  for (std::size_t d = 1; d <= 2 * norm.radius; ++d) {
    sum = _mm256_add_ps(sum, _mm256_loadu_ps(row + k + d));
  }
  return sum;
}

STERNA_AVX2 void square(const LrnRows& norm, std::size_t pixels, const float* x, float* rows) {
  for (std::size_t i = 0; i < pixels; ++i, x += norm.channels, rows += norm.stride) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __m256 value = kernels::load(x + k, kernels::live_lanes(k, norm.channels));
      _mm256_storeu_ps(rows + norm.radius + k, _mm256_mul_ps(value, value));
    }
  }
}

/// base^-1/4, whose powers are cheaper than further divisions.
STERNA_AVX2_INLINE __m256 fourth_root_under_one(const LrnRows& norm, const float* squares,
                                                std::size_t k) {
  const __m256 sum = _mm256_mul_ps(_mm256_set1_ps(norm.alpha), window_sum(norm, squares, k));
  const __m256 base = _mm256_add_ps(_mm256_set1_ps(norm.bias), sum);
  return _mm256_div_ps(_mm256_set1_ps(1), _mm256_sqrt_ps(_mm256_sqrt_ps(base)));
}

STERNA_AVX2 void normalize(const LrnRows& norm, std::size_t pixels, const float* squares,
                           float* x) {
  for (std::size_t i = 0; i < pixels; ++i, x += norm.channels, squares += norm.stride) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const kernels::LiveLanes live = kernels::live_lanes(k, norm.channels);
      const __m256 under = fourth_root_under_one(norm, squares, k);
      const __m256 factor = _mm256_mul_ps(under, _mm256_mul_ps(under, under));
      kernels::store(x + k, live, _mm256_mul_ps(kernels::load(x + k, live), factor));
    }
  }
}

STERNA_AVX2 void scale(const LrnRows& norm, std::size_t pixels, const float* x,
                       const float* squares, float* dy, float* products) {
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const kernels::LiveLanes live = kernels::live_lanes(k, norm.channels);
      const __m256 under = fourth_root_under_one(norm, squares, k);
      const __m256 factor = _mm256_mul_ps(under, _mm256_mul_ps(under, under));
      const __m256 scaled = _mm256_mul_ps(kernels::load(dy + k, live), factor);
      kernels::store(dy + k, live, scaled);
      const __m256 product = _mm256_mul_ps(scaled, kernels::load(x + k, live));
      _mm256_storeu_ps(products + norm.radius + k,
                       only(live, _mm256_mul_ps(product, _mm256_mul_ps(under, factor))));
    }
    x += norm.channels;
    dy += norm.channels;
    squares += norm.stride;
    products += norm.stride;
  }
}

STERNA_AVX2 void subtract(const LrnRows& norm, std::size_t pixels, const float* x,
                          const float* products, float* dx) {
  const __m256 share = _mm256_set1_ps(1.5F * norm.alpha);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const kernels::LiveLanes live = kernels::live_lanes(k, norm.channels);
      const __m256 value = _mm256_mul_ps(share, kernels::load(x + k, live));
      const __m256 others = _mm256_mul_ps(value, window_sum(norm, products, k));
      kernels::store(dx + k, live, _mm256_sub_ps(kernels::load(dx + k, live), others));
    }
    x += norm.channels;
    dx += norm.channels;
    products += norm.stride;
  }
}

}  // namespace

LrnPasses lrn_passes_avx2() { return {square, normalize, scale, subtract}; }

}  // namespace sterna::nets
