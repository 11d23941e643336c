// Sixteen elements at a time; the lanes behind the end of a tile are masked off.
#include "kernels/avx512.h"
#include "kernels/tile.h"

namespace sterna::kernels {
namespace {

STERNA_AVX512 inline __attribute__((always_inline)) __mmask16 lanes(std::size_t i,
                                                                    std::size_t count) {
  return i + 16 <= count ? __mmask16{0xFFFF} : static_cast<__mmask16>((1U << (count - i)) - 1U);
}

STERNA_AVX512 inline __attribute__((always_inline)) __mmask16 load_mask(const std::byte* p) {
  __mmask16 mask = 0;
  __builtin_memcpy(&mask, p, sizeof mask);
  return mask;
}

STERNA_AVX512 void add_planes(const std::byte* planes, float scaler, std::size_t count,
                              float* sum) {
  const __m512 plus = _mm512_set1_ps(scaler);
  const __m512 minus = _mm512_set1_ps(-scaler);
  for (std::size_t i = 0; i < count; i += 16) {
    const std::byte* nonzero = planes + i / plane_block * plane_block_bytes + i % plane_block / 8;
    const __mmask16 live = lanes(i, count);
    const __mmask16 set = load_mask(nonzero);
    const __mmask16 negative = load_mask(nonzero + plane_block_bytes / 2);
    const __m512 before = _mm512_maskz_loadu_ps(live, sum + i);
    const __m512 trit = _mm512_mask_blend_ps(negative, plus, minus);
    // A zero trit leaves the sum's bits alone: the sum started at +0, so it is never -0.
    _mm512_mask_storeu_ps(sum + i, live, _mm512_mask_add_ps(before, set, before, trit));
  }
}

STERNA_AVX512 void add_fp32(const std::byte* values, std::size_t count, float* sum) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 before = _mm512_maskz_loadu_ps(live, sum + i);
    const __m512 value = _mm512_maskz_loadu_ps(live, values + i * sizeof(float));
    _mm512_mask_storeu_ps(sum + i, live, _mm512_add_ps(before, value));
  }
}

STERNA_AVX512 void multiply(float factor, std::size_t count, float* x) {
  const __m512 f = _mm512_set1_ps(factor);
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 v = _mm512_maskz_loadu_ps(live, x + i);
    _mm512_mask_storeu_ps(x + i, live, _mm512_mul_ps(v, f));
  }
}

STERNA_AVX512 void divide(float divisor, std::size_t count, float* x) {
  // The inverse of a power of two is exact, so the product is the quotient, bit by bit, and faster.
  const auto whole = static_cast<unsigned>(divisor);
  if ((whole & (whole - 1)) == 0) return multiply(1.0F / divisor, count, x);
  const __m512 d = _mm512_set1_ps(divisor);
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 v = _mm512_maskz_loadu_ps(live, x + i);
    _mm512_mask_storeu_ps(x + i, live, _mm512_div_ps(v, d));
  }
}

STERNA_AVX512 void add_decay(float decay, const float* w, std::size_t count, float* g) {
  const __m512 d = _mm512_set1_ps(decay);
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 decayed = _mm512_mul_ps(d, _mm512_maskz_loadu_ps(live, w + i));
    const __m512 before = _mm512_maskz_loadu_ps(live, g + i);
    _mm512_mask_storeu_ps(g + i, live, _mm512_add_ps(before, decayed));
  }
}

STERNA_AVX512 void descend(float lr, const float* w, const float* g, std::size_t count,
                           float* next) {
  const __m512 rate = _mm512_set1_ps(lr);
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 change = _mm512_mul_ps(rate, _mm512_maskz_loadu_ps(live, g + i));
    const __m512 before = _mm512_maskz_loadu_ps(live, w + i);
    _mm512_mask_storeu_ps(next + i, live, _mm512_sub_ps(before, change));
  }
}

STERNA_AVX512 void accumulate(float m, const float* g, std::size_t count, float* a) {
  const __m512 momentum = _mm512_set1_ps(m);
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 kept = _mm512_mul_ps(momentum, _mm512_maskz_loadu_ps(live, a + i));
    const __m512 gradient = _mm512_maskz_loadu_ps(live, g + i);
    _mm512_mask_storeu_ps(a + i, live, _mm512_add_ps(kept, gradient));
  }
}

}  // namespace

TileKernels avx512_tiles() {
  return {add_planes, add_fp32, divide, add_decay, descend, accumulate};
}

}  // namespace sterna::kernels
