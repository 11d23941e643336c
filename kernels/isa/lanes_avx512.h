// Sixteen fp32 lanes at a time, of which those behind the end are masked off. For AVX-512 code
// only.
#pragma once

#include <cstddef>

#include "kernels/isa/avx512.h"

namespace sterna::kernels {

/// The lanes of elements i to i + 15 that are there, of `count` > i.
STERNA_AVX512_INLINE __mmask16 lanes(std::size_t i, std::size_t count) {
  return i + 16 <= count ? __mmask16{0xFFFF} : static_cast<__mmask16>((1U << (count - i)) - 1U);
}

/// Past the cache, the old bytes need not be read first. Not ordered with other stores: a fence
/// follows.
STERNA_AVX512_INLINE void store(float* p, __mmask16 live, __m512 v, bool past_cache) {
  if (past_cache && live == 0xFFFF) {
    _mm512_stream_ps(p, v);
  } else {
    _mm512_mask_storeu_ps(p, live, v);
  }
}

}  // namespace sterna::kernels
