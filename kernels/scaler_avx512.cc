// One vector is the 16 lanes: lane l of the registers below is lane l of the definition.
#include "kernels/avx512.h"
#include "kernels/scaler_blocks.h"

namespace sterna::kernels {
namespace {

// The first `count` lanes, count < 16.
STERNA_AVX512 inline __mmask16 first_lanes(std::size_t count) {
  return static_cast<__mmask16>((1U << count) - 1U);
}

}  // namespace

STERNA_AVX512 void sum_block_avx512(const float* x, std::size_t count, LaneSums& sums) {
  __m512 sum = _mm512_setzero_ps();
  __m512 squares = _mm512_setzero_ps();
  std::size_t i = 0;
  for (; i + sigma_lanes <= count; i += sigma_lanes) {
    const __m512 v = _mm512_loadu_ps(x + i);
    sum = _mm512_add_ps(sum, v);
    squares = _mm512_fmadd_ps(v, v, squares);
  }
  if (i < count) {
    const __m512 v = _mm512_maskz_loadu_ps(first_lanes(count - i), x + i);
    sum = _mm512_add_ps(sum, v);
    squares = _mm512_fmadd_ps(v, v, squares);
  }
  _mm512_store_ps(sums.sum, sum);
  _mm512_store_ps(sums.squares, squares);
}

STERNA_AVX512 std::uint32_t max_magnitude_avx512(const float* x, std::size_t count) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i largest = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    largest = _mm512_max_epu32(largest, _mm512_and_si512(_mm512_loadu_si512(x + i), magnitude));
  }
  if (i < count) {
    const __m512i v = _mm512_maskz_loadu_epi32(first_lanes(count - i), x + i);
    largest = _mm512_max_epu32(largest, _mm512_and_si512(v, magnitude));
  }
  return _mm512_reduce_max_epu32(largest);
}

}  // namespace sterna::kernels
