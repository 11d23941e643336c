// Sixteen of a tensor's numbers as fp32, whichever they are stored as. For AVX-512 code only.
#pragma once

#include <cstdint>

#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/sums/bf16_avx512.h"

namespace sterna::nets {

STERNA_AVX512_INLINE __m512 load(__mmask16 live, const float* from) {
  return _mm512_maskz_loadu_ps(live, from);
}
STERNA_AVX512_INLINE __m512 load(__mmask16 live, const std::uint16_t* from) {
  return kernels::from_bf16(_mm256_maskz_loadu_epi16(live, from));
}
/// The nearest that can be stored.
STERNA_AVX512_INLINE void store(float* to, __mmask16 live, __m512 values) {
  _mm512_mask_storeu_ps(to, live, values);
}
STERNA_AVX512_INLINE void store(std::uint16_t* to, __mmask16 live, __m512 values) {
  _mm256_mask_storeu_epi16(to, live, kernels::to_bf16(values));
}
/// Of numbers that were stored so, whose bits stay.
STERNA_AVX512_INLINE void store_again(float* to, __mmask16 live, __m512 values) {
  _mm512_mask_storeu_ps(to, live, values);
}
STERNA_AVX512_INLINE void store_again(std::uint16_t* to, __mmask16 live, __m512 values) {
  const __m512i bits = _mm512_srli_epi32(_mm512_castps_si512(values), 16);
  _mm256_mask_storeu_epi16(to, live, _mm512_cvtepi32_epi16(bits));
}

}  // namespace sterna::nets
