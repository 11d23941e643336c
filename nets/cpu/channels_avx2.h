// Channels, eight at a time. For AVX2 code only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/avx2.h"

namespace sterna::nets {

inline constexpr std::size_t kAvx2Lanes = 8;

/// Where the vector of channels begins that `k` is in, of at least eight: the last one reaches back
/// into the one before it, whose numbers it makes again.
STERNA_AVX2_INLINE std::size_t vector_of(std::size_t k, std::size_t channels) {
  return k + kAvx2Lanes <= channels ? k : channels - kAvx2Lanes;
}

/// The lowest bytes of eight lanes.
STERNA_AVX2_INLINE void store_bytes(std::uint8_t* to, __m256i lanes) {
  const __m128i words =
      _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
}

/// Eight bytes, a lane each.
STERNA_AVX2_INLINE __m256i load_bytes(const std::uint8_t* from) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}

}  // namespace sterna::nets
