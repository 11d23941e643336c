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

/// The same, of a kind that the compiler knows.
template <bool kBf16s>
STERNA_DEVICE Numbers known(Numbers numbers) {
  numbers.bf16s = kBf16s;
  return numbers;
}

}  // namespace sterna::kernels
