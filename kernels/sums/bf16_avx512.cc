#include "kernels/sums/bf16_avx512.h"

#include "kernels/isa/lanes_avx512.h"
#include "kernels/sums/bf16_blocks.h"

namespace sterna::kernels {

STERNA_AVX512 void encode_bf16_values_avx512(const float* values, std::size_t count,
                                             std::byte* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m256i bits = to_bf16(_mm512_maskz_loadu_ps(live, values + i));
    _mm256_mask_storeu_epi16(out + 2 * i, live, bits);
  }
}

STERNA_AVX512 void decode_bf16_values_avx512(const std::byte* payload, std::size_t count,
                                             float* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m256i bits = _mm256_maskz_loadu_epi16(live, payload + 2 * i);
    _mm512_mask_storeu_ps(out + i, live, from_bf16(bits));
  }
}

STERNA_AVX512 void add_bf16_values_avx512(const std::uint16_t* a, const std::uint16_t* b,
                                          std::size_t count, std::uint16_t* out) {
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 one = from_bf16(_mm256_maskz_loadu_epi16(live, a + i));
    const __m512 other = from_bf16(_mm256_maskz_loadu_epi16(live, b + i));
    _mm256_mask_storeu_epi16(out + i, live, to_bf16(_mm512_add_ps(one, other)));
  }
}

}  // namespace sterna::kernels
