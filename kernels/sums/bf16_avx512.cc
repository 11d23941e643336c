// Sixteen at a time, in integers: the instruction that converts would flush denormals.
#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/sums/bf16_blocks.h"

namespace sterna::kernels {
namespace {

STERNA_AVX512_INLINE __m256i rounded(__m512 value) {
  const __m512i bits = _mm512_castps_si512(value);
  const __m512i upper = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
  const __m512i nearest = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_set1_epi32(0x40);
  return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(nearest, nan, upper, quiet));
}

}  // namespace

STERNA_AVX512 void encode_bf16_values_avx512(const float* values, std::size_t count,
                                             std::byte* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m256i bits = rounded(_mm512_maskz_loadu_ps(live, values + i));
    _mm256_mask_storeu_epi16(out + 2 * i, live, bits);
  }
}

STERNA_AVX512 void decode_bf16_values_avx512(const std::byte* payload, std::size_t count,
                                             float* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512i bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(live, payload + 2 * i));
    _mm512_mask_storeu_ps(out + i, live, _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16)));
  }
}

}  // namespace sterna::kernels
