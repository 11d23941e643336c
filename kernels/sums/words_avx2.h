// A word of a plane, 32 elements, as masks of eight lanes each. For .cc files of AVX2 only.
#pragma once

#include <cstddef>

#include "kernels/isa/avx2.h"

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

}  // namespace sterna::kernels
