// Eight fp32 lanes at a time, of which those behind the end are left alone. For AVX2 code only.
#pragma once

#include <cstddef>

#include "kernels/isa/avx2.h"

namespace sterna::kernels {

/// Which of eight elements are below the end. All of them are but in a last vector: stores by a
/// mask are slow on some CPUs.
struct LiveLanes {
  __m256i mask;
  bool all;
};

/// Those of the elements i to i + 7 that are below `count`, which is above i.
STERNA_AVX2_INLINE LiveLanes live_lanes(std::size_t i, std::size_t count) {
  if (i + 8 <= count) return {_mm256_set1_epi32(-1), true};
  const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count - i)), places), false};
}

/// The live lanes; 0 in the others, whose memory is not touched.
STERNA_AVX2_INLINE __m256 load(const float* p, const LiveLanes& live) {
  return live.all ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, live.mask);
}

/// Stores the live lanes. `past_cache`: by a store that leaves the cache alone and reads no old
/// bytes first (a full and 32-byte aligned vector only); such stores are not ordered with others,
/// so the caller's fence follows.
STERNA_AVX2_INLINE void store(float* p, const LiveLanes& live, __m256 v, bool past_cache = false) {
  if (!live.all) {
    _mm256_maskstore_ps(p, live.mask, v);
  } else if (past_cache) {
    _mm256_stream_ps(p, v);
  } else {
    _mm256_storeu_ps(p, v);
  }
}

}  // namespace sterna::kernels
