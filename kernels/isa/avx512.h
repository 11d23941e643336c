// How the AVX-512 versions are compiled: by a target attribute on each function, never by a flag on
// a file. A file compiled with -mavx512f would emit AVX-512 copies of the inline functions that it
// includes, and the linker may keep those for the whole program, which then dies on an older CPU.
// Hence, too, no lambdas, templates or std:: calls inside such functions. For .cc files only.
#pragma once

#include <immintrin.h>

#define STERNA_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,bmi2,popcnt")))
/// For what only such functions call: inlined, or vectors would travel through memory.
#define STERNA_AVX512_INLINE STERNA_AVX512 inline __attribute__((always_inline))

// GCC 12 takes its own intrinsics' undefined sources for uninitialised reads (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
