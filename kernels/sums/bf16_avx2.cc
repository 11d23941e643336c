// As bf16_avx512.cc, eight at a time; the few behind the last eight one by one.
#include "kernels/isa/avx2.h"
#include "kernels/sums/bf16_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kLanes = 8;

/// Each lane's nearest bf16, in its upper half; NaNs stay NaNs, and quiet ones their bits.
STERNA_AVX2_INLINE __m256i nearest(__m256 value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
  const __m256i rounded = _mm256_add_epi32(bits, half);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, quiet, nan);
}

STERNA_AVX2_INLINE __m128i to_bf16(__m256 value) {
  const __m256i words = _mm256_srli_epi32(nearest(value), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

STERNA_AVX2_INLINE __m256 from_bf16(const void* words) {
  const __m128i bits = _mm_loadu_si128(static_cast<const __m128i*>(words));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

STERNA_AVX2_INLINE void store(void* p, __m128i words) {
  _mm_storeu_si128(static_cast<__m128i*>(p), words);
}

}  // namespace

STERNA_AVX2 void encode_bf16_values_avx2(const float* values, std::size_t count, std::byte* out) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(out + 2 * i, to_bf16(_mm256_loadu_ps(values + i)));
  }
  encode_bf16_values(values + i, count - i, out + 2 * i);
}

STERNA_AVX2 void decode_bf16_values_avx2(const std::byte* payload, std::size_t count, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    _mm256_storeu_ps(out + i, from_bf16(payload + 2 * i));
  }
  decode_bf16_values(payload + 2 * i, count - i, out + i);
}

STERNA_AVX2 void add_bf16_values_avx2(const std::uint16_t* a, const std::uint16_t* b,
                                      std::size_t count, std::uint16_t* out) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store(out + i, to_bf16(_mm256_add_ps(from_bf16(a + i), from_bf16(b + i))));
  }
  add_bf16_values(a + i, b + i, count - i, out + i);
}

}  // namespace sterna::kernels
