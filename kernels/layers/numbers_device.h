// How a device reads and writes numbers of either kind (numbers.h), written once for nvcc and for
// the host's compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/numbers.h"
#include "kernels/sums/bf16.h"

namespace sterna::kernels {

STERNA_DEVICE float number_of(float stored) { return stored; }
STERNA_DEVICE float number_of(std::uint16_t stored) { return from_bf16(stored); }

STERNA_DEVICE float number_at(const Numbers& from, std::size_t i) {
  if (from.bf16s) return from_bf16(static_cast<const std::uint16_t*>(from.at)[i]);
  return static_cast<const float*>(from.at)[i];
}
STERNA_DEVICE void put_number(const Numbers& to, std::size_t i, float number) {
  if (to.bf16s) {
    static_cast<std::uint16_t*>(to.at)[i] = to_bf16(number);
  } else {
    static_cast<float*>(to.at)[i] = number;
  }
}

struct alignas(16) FourFp32s {
  float at[kQuad];
};
struct alignas(8) FourBf16s {
  std::uint16_t at[kQuad];
};

// A quad at a multiple of its size, by one instruction: nvcc writes what a struct has one by one
// where that comes from branches, and bytes where it is copied.
STERNA_DEVICE void put_quad(void* to, const FourBf16s& four) {
#ifdef __CUDA_ARCH__
  __stwb(static_cast<ushort4*>(to), make_ushort4(four.at[0], four.at[1], four.at[2], four.at[3]));
#else
  __builtin_memcpy(to, &four, sizeof(four));
#endif
}
STERNA_DEVICE void put_quad(void* to, const FourFp32s& four) {
#ifdef __CUDA_ARCH__
  __stwb(static_cast<float4*>(to), make_float4(four.at[0], four.at[1], four.at[2], four.at[3]));
#else
  __builtin_memcpy(to, &four, sizeof(four));
#endif
}

/// One number, or kQuad neighbours from element i on, which are of one quad.
template <std::uint32_t kWide>
STERNA_DEVICE void read_numbers(const Numbers& from, std::size_t i, float (&into)[kWide]) {
  static_assert(kWide == 1 || kWide == kQuad);
  if constexpr (kWide == 1) {
    into[0] = number_at(from, i);
  } else if (from.bf16s) {
    const auto four =
        *reinterpret_cast<const FourBf16s*>(static_cast<const std::uint16_t*>(from.at) + i);
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kQuad; ++c) into[c] = from_bf16(four.at[c]);
  } else {
    const auto four = *reinterpret_cast<const FourFp32s*>(static_cast<const float*>(from.at) + i);
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kQuad; ++c) into[c] = four.at[c];
  }
}
template <std::uint32_t kWide>
STERNA_DEVICE void put_numbers(const Numbers& to, std::size_t i, const float (&numbers)[kWide]) {
  static_assert(kWide == 1 || kWide == kQuad);
  if constexpr (kWide == 1) {
    put_number(to, i, numbers[0]);
  } else if (to.bf16s) {
    FourBf16s four;
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kQuad; ++c) four.at[c] = to_bf16(numbers[c]);
    put_quad(static_cast<std::uint16_t*>(to.at) + i, four);
  } else {
    FourFp32s four;
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kQuad; ++c) four.at[c] = numbers[c];
    put_quad(static_cast<float*>(to.at) + i, four);
  }
}

/// The same, of a kind that the compiler knows.
template <bool kBf16s>
STERNA_DEVICE Numbers known(Numbers numbers) {
  numbers.bf16s = kBf16s;
  return numbers;
}

}  // namespace sterna::kernels
