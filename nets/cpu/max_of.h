// Which of two numbers a maximum takes: the greater, of equals the first, and what is no number
// before any: a maximum that passes it over hides that a net is broken. For .cc files only.
#pragma once

#include <cmath>

#include "kernels/isa/avx2.h"
#include "kernels/isa/avx512.h"

namespace sterna::nets {

/// Whether `next` wins over `most`, which stands before it.
inline bool wins(float next, float most) { return next > most || std::isnan(next); }

STERNA_AVX2_INLINE __m256 wins(__m256 next, __m256 most) {
  return _mm256_or_ps(_mm256_cmp_ps(next, most, _CMP_GT_OQ),
                      _mm256_cmp_ps(next, next, _CMP_UNORD_Q));
}

STERNA_AVX512_INLINE __mmask16 wins(__m512 next, __m512 most) {
  return _mm512_cmp_ps_mask(next, most, _CMP_GT_OQ) | _mm512_cmp_ps_mask(next, next, _CMP_UNORD_Q);
}

}  // namespace sterna::nets
