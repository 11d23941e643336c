// How the AVX2 versions are compiled: as those of avx512.h, and for the same reasons. For .cc files
// only.
#pragma once

#include <immintrin.h>

#define STERNA_AVX2 __attribute__((target("avx2,fma,popcnt")))
#define STERNA_AVX2_INLINE STERNA_AVX2 inline __attribute__((always_inline))
