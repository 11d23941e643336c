// One vector is the 16 lanes: lane l of the registers below is lane l of the definition. A lane's
// sum is a chain of additions, so four blocks advance side by side (twice as fast as one by one).
#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/trits/scaler_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kAbreast = 4;

STERNA_AVX512_INLINE void add_abreast(const float* x, LaneSums* sums) {
  __m512 sum[kAbreast];
  __m512 squares[kAbreast];
#pragma GCC unroll 4
  for (std::size_t b = 0; b < kAbreast; ++b) {
    sum[b] = _mm512_load_ps(sums[b].sum);
    squares[b] = _mm512_load_ps(sums[b].squares);
  }
  for (std::size_t i = 0; i < kSigmaBlock; i += kSigmaLanes) {
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kAbreast; ++b) {
      __m512 v = _mm512_loadu_ps(x + b * kSigmaBlock + i);
      asm("" : "+v"(v));  // one load: GCC would rather read memory for either use
      sum[b] = _mm512_add_ps(sum[b], v);
      squares[b] = _mm512_fmadd_ps(v, v, squares[b]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t b = 0; b < kAbreast; ++b) {
    _mm512_store_ps(sums[b].sum, sum[b]);
    _mm512_store_ps(sums[b].squares, squares[b]);
  }
}

STERNA_AVX512_INLINE void add_one(const float* x, std::size_t count, LaneSums& sums) {
  __m512 sum = _mm512_load_ps(sums.sum);
  __m512 squares = _mm512_load_ps(sums.squares);
  std::size_t i = 0;
  for (; i + kSigmaLanes <= count; i += kSigmaLanes) {
    const __m512 v = _mm512_loadu_ps(x + i);
    sum = _mm512_add_ps(sum, v);
    squares = _mm512_fmadd_ps(v, v, squares);
  }
  if (i < count) {
    const __m512 v = _mm512_maskz_loadu_ps(lanes(i, count), x + i);
    sum = _mm512_add_ps(sum, v);
    squares = _mm512_fmadd_ps(v, v, squares);
  }
  _mm512_store_ps(sums.sum, sum);
  _mm512_store_ps(sums.squares, squares);
}

STERNA_AVX512 void add_blocks(const float* x, std::size_t count, LaneSums* sums) {
  std::size_t i = 0;
  for (; i + kAbreast * kSigmaBlock <= count; i += kAbreast * kSigmaBlock) {
    add_abreast(x + i, sums + i / kSigmaBlock);
  }
  for (; i < count; i += kSigmaBlock) {
    const std::size_t rest = count - i;
    add_one(x + i, rest < kSigmaBlock ? rest : kSigmaBlock, sums[i / kSigmaBlock]);
  }
}

STERNA_AVX512 std::uint32_t max_magnitude(const float* x, std::size_t count) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i largest = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    largest = _mm512_max_epu32(largest, _mm512_and_si512(_mm512_loadu_si512(x + i), magnitude));
  }
  if (i < count) {
    const __m512i v = _mm512_maskz_loadu_epi32(lanes(i, count), x + i);
    largest = _mm512_max_epu32(largest, _mm512_and_si512(v, magnitude));
  }
  return _mm512_reduce_max_epu32(largest);
}

}  // namespace

ScalerKernels avx512_scaler() { return {add_blocks, max_magnitude}; }

}  // namespace sterna::kernels
