// How the AVX2 versions are compiled: by a target attribute on each function, for the reasons that
// kernels/isa/avx512.h gives. For .cc files only.
#pragma once

#include <immintrin.h>

#define STERNA_AVX2 __attribute__((target("avx2,fma,popcnt")))
#define STERNA_AVX2_INLINE STERNA_AVX2 inline __attribute__((always_inline))
