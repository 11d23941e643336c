// Philox of eight counters at a time, in AVX2. For .cc files only.
#pragma once

#include <cstdint>

#include "kernels/isa/avx2.h"
#include "kernels/random/philox.h"

namespace sterna::kernels {

/// The four words of eight counters.
struct EightWords {
  __m256i word[4];
};

/// The four words of four counters, in the lower halves of 64-bit lanes; the upper halves are left
/// dirty, as vpmuludq reads the lower ones only.
struct FourCounters {
  __m256i w0, w1, w2, w3;
};

STERNA_AVX2_INLINE __m256i each64(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}

STERNA_AVX2_INLINE FourCounters philox_round(const FourCounters& c, __m256i key0, __m256i key1) {
  const __m256i product0 = _mm256_mul_epu32(c.w0, each64(Philox::kMultiplier0));
  const __m256i product1 = _mm256_mul_epu32(c.w2, each64(Philox::kMultiplier1));
  return {_mm256_xor_si256(_mm256_srli_epi64(product1, 32), _mm256_xor_si256(c.w1, key0)), product1,
          _mm256_xor_si256(_mm256_srli_epi64(product0, 32), _mm256_xor_si256(c.w3, key1)),
          product0};
}

/// 32-bit lanes from the lower halves: even ones from `even`, odd ones from `odd`.
STERNA_AVX2_INLINE __m256i join(__m256i even, __m256i odd) {
  return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}

/// philox({first + lane, word1, word2, word3}, key).
STERNA_AVX2_INLINE EightWords philox_avx2(std::uint32_t first, std::uint32_t word1,
                                          std::uint32_t word2, std::uint32_t word3,
                                          std::uint64_t key) {
  const __m256i start = _mm256_add_epi64(each64(first), _mm256_setr_epi64x(0, 2, 4, 6));
  FourCounters even{start, each64(word1), each64(word2), each64(word3)};
  FourCounters odd{_mm256_add_epi64(start, each64(1)), even.w1, even.w2, even.w3};
  __m256i key0 = each64(static_cast<std::uint32_t>(key));
  __m256i key1 = each64(static_cast<std::uint32_t>(key >> 32));
  for (int round = 0; round < Philox::kRounds; ++round) {
    even = philox_round(even, key0, key1);
    odd = philox_round(odd, key0, key1);
    key0 = _mm256_add_epi32(key0, each64(Philox::kWeyl0));
    key1 = _mm256_add_epi32(key1, each64(Philox::kWeyl1));
  }
  return {
      {join(even.w0, odd.w0), join(even.w1, odd.w1), join(even.w2, odd.w2), join(even.w3, odd.w3)}};
}

/// Words as numbers. AVX2 converts signed ones only: 2^31 less, exactly, and back.
STERNA_AVX2_INLINE __m256d as_doubles(__m128i words) {
  const __m128i less = _mm_xor_si128(words, _mm_set1_epi32(-0x7FFFFFFF - 1));
  return _mm256_add_pd(_mm256_cvtepi32_pd(less), _mm256_set1_pd(0x1p31));
}

/// Four elements a counter, a word each: eight elements in each vector, in order.
struct ElementWords {
  __m256i eight[4];
};

STERNA_AVX2_INLINE ElementWords element_words(const EightWords& words) {
  const __m256i low01 = _mm256_unpacklo_epi32(words.word[0], words.word[1]);
  const __m256i high01 = _mm256_unpackhi_epi32(words.word[0], words.word[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(words.word[2], words.word[3]);
  const __m256i high23 = _mm256_unpackhi_epi32(words.word[2], words.word[3]);
  // Of counters 0 and 4, 1 and 5, 2 and 6, 3 and 7.
  const __m256i of04 = _mm256_unpacklo_epi64(low01, low23);
  const __m256i of15 = _mm256_unpackhi_epi64(low01, low23);
  const __m256i of26 = _mm256_unpacklo_epi64(high01, high23);
  const __m256i of37 = _mm256_unpackhi_epi64(high01, high23);
  return {{_mm256_permute2x128_si256(of04, of15, 0x20), _mm256_permute2x128_si256(of26, of37, 0x20),
           _mm256_permute2x128_si256(of04, of15, 0x31),
           _mm256_permute2x128_si256(of26, of37, 0x31)}};
}

}  // namespace sterna::kernels
