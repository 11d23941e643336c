// A word of a plane, 32 elements, as masks of eight lanes each, or of a byte each. For .cc files of
// AVX2 only.
#pragma once

#include <cstddef>

#include "kernels/isa/avx2.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

inline constexpr std::size_t kWordElements = 32;
inline constexpr std::size_t kWordLanes = 8;
inline constexpr std::size_t kWordVectors = kWordElements / kWordLanes;

STERNA_AVX2_INLINE __m256i word_of(const std::byte* plane) {
  int word = 0;
  __builtin_memcpy(&word, plane, sizeof word);
  return _mm256_set1_epi32(word);
}

/// Bit 8 v + l of the word at the top of lane l; the bits below it are others'.
STERNA_AVX2_INLINE __m256i bits_on_top(__m256i word, std::size_t v) {
  const __m256i places = _mm256_sub_epi32(_mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24),
                                          _mm256_set1_epi32(static_cast<int>(kWordLanes * v)));
  return _mm256_sllv_epi32(word, places);
}

/// All ones in lane l where bit 8 v + l of the word is set.
STERNA_AVX2_INLINE __m256i lanes_set(__m256i word, std::size_t v) {
  return _mm256_srai_epi32(bits_on_top(word, v), 31);
}

/// All ones in byte i where bit i of the word is set.
STERNA_AVX2_INLINE __m256i bytes_set(const std::byte* plane) {
  const __m256i byte_of = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                           2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i bytes = _mm256_shuffle_epi8(word_of(plane), byte_of);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
}

/// The bits of 32 elements in up to 8 planes of a block, an element per byte; `word` is that of the
/// first plane.
STERNA_AVX2_INLINE __m256i word_bytes(const std::byte* word, std::size_t planes) {
  __m256i elements = _mm256_setzero_si256();
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const __m256i set = bytes_set(word + plane * (kPlaneBlockBytes / 2));
    const __m256i weight = _mm256_set1_epi8(static_cast<char>(1U << plane));
    elements = _mm256_or_si256(elements, _mm256_and_si256(set, weight));
  }
  return elements;
}

}  // namespace sterna::kernels
