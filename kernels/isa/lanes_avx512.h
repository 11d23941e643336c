// Sixteen fp32 lanes at a time, of which those behind the end are masked off. For AVX-512 code
// only.
#pragma once

#include <cstddef>

#include "kernels/isa/avx512.h"

namespace sterna::kernels {

/// A mask of those of the elements i to i + 15 that are below `count`, which is above i.
STERNA_AVX512_INLINE __mmask16 lanes(std::size_t i, std::size_t count) {
  return i + 16 <= count ? __mmask16{0xFFFF} : static_cast<__mmask16>((1U << (count - i)) - 1U);
}

/// Stores the live lanes. `past_cache`: by a store that leaves the cache alone and reads no old
/// bytes first (a full and 64-byte aligned vector only); such stores are not ordered with others,
/// so the caller's fence follows.
STERNA_AVX512_INLINE void store(float* p, __mmask16 live, __m512 v, bool past_cache) {
  if (past_cache && live == 0xFFFF) {
    _mm512_stream_ps(p, v);
  } else {
    _mm512_mask_storeu_ps(p, live, v);
  }
}

}  // namespace sterna::kernels
