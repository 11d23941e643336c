// bf16 in registers: sixteen to and from fp32. For AVX-512 code only. Integers throughout: the
// instruction that converts would flush denormals.
#pragma once

#include "kernels/isa/avx512.h"

namespace sterna::kernels {

/// The nearest, ties to even; NaNs stay NaNs, and quiet ones their bits.
STERNA_AVX512_INLINE __m256i to_bf16(__m512 value) {
  const __m512i bits = _mm512_castps_si512(value);
  const __m512i upper = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
  const __m512i nearest = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_set1_epi32(0x40);
  return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(nearest, nan, upper, quiet));
}

STERNA_AVX512_INLINE __m512 from_bf16(__m256i bits) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

}  // namespace sterna::kernels
