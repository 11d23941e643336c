// Two vectors are the 16 lanes, lanes 0 to 7 and 8 to 15; two blocks advance side by side.
#include "kernels/isa/avx2.h"
#include "kernels/trits/scaler_blocks.h"

namespace sterna::kernels {
namespace {

// A LaneSums in registers.
struct Halves {
  __m256 sum[2];
  __m256 squares[2];
};

STERNA_AVX2_INLINE Halves load(const LaneSums& sums) {
  return {{_mm256_load_ps(sums.sum), _mm256_load_ps(sums.sum + 8)},
          {_mm256_load_ps(sums.squares), _mm256_load_ps(sums.squares + 8)}};
}

STERNA_AVX2_INLINE void store(const Halves& halves, LaneSums& sums) {
  for (std::size_t half = 0; half < 2; ++half) {
    _mm256_store_ps(sums.sum + 8 * half, halves.sum[half]);
    _mm256_store_ps(sums.squares + 8 * half, halves.squares[half]);
  }
}

STERNA_AVX2_INLINE void add_vectors(const float* x, Halves& to) {
  for (std::size_t half = 0; half < 2; ++half) {
    const __m256 v = _mm256_loadu_ps(x + 8 * half);
    to.sum[half] = _mm256_add_ps(to.sum[half], v);
    to.squares[half] = _mm256_fmadd_ps(v, v, to.squares[half]);
  }
}

STERNA_AVX2 void add_blocks(const float* x, std::size_t count, LaneSums* sums) {
  while (count >= 2 * kSigmaBlock) {
    Halves first = load(sums[0]);
    Halves second = load(sums[1]);
    for (std::size_t i = 0; i < kSigmaBlock; i += kSigmaLanes) {
      add_vectors(x + i, first);
      add_vectors(x + kSigmaBlock + i, second);
    }
    store(first, sums[0]);
    store(second, sums[1]);
    x += 2 * kSigmaBlock;
    count -= 2 * kSigmaBlock;
    sums += 2;
  }
  while (count > 0) {
    const std::size_t here = count < kSigmaBlock ? count : kSigmaBlock;
    Halves halves = load(*sums);
    std::size_t i = 0;
    for (; i + kSigmaLanes <= here; i += kSigmaLanes) add_vectors(x + i, halves);
    if (i < here) {
      alignas(32) float rest[kSigmaLanes] = {};  // a zero changes no lane's bits
      __builtin_memcpy(rest, x + i, (here - i) * sizeof(float));
      add_vectors(rest, halves);
    }
    store(halves, *sums);
    x += here;
    count -= here;
    ++sums;
  }
}

STERNA_AVX2 std::uint32_t max_magnitude(const float* x, std::size_t count) {
  const __m256i magnitude = _mm256_set1_epi32(0x7FFFFFFF);
  __m256i largest = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256i v;
    __builtin_memcpy(&v, x + i, sizeof v);
    largest = _mm256_max_epu32(largest, _mm256_and_si256(v, magnitude));
  }
  std::uint32_t lanes[8] = {};
  __builtin_memcpy(lanes, x + i, (count - i) * sizeof(float));
  __m256i rest;
  __builtin_memcpy(&rest, lanes, sizeof rest);
  largest = _mm256_max_epu32(largest, _mm256_and_si256(rest, magnitude));
  __builtin_memcpy(lanes, &largest, sizeof lanes);
  std::uint32_t result = 0;
  for (const std::uint32_t lane : lanes) result = lane > result ? lane : result;
  return result;
}

}  // namespace

ScalerKernels avx2_scaler() { return {add_blocks, max_magnitude}; }

}  // namespace sterna::kernels
