// Signs under one magnitude: 1 bit an element. With error feedback SGD by these converges
// (Karimireddy et al., "Error feedback fixes SignSGD", arXiv 1901.09847, whose scaled sign is this:
// ‖g‖₁ / d · sign(g)).
//
// Of each 65,536 elements in order, the last n of them possibly fewer: 4 bytes of mean |g|, fp32
// little-endian, and ceil(n / 8) bytes in which bit i mod 8 of byte i / 8 is set where element i is
// negative; a zero of either sign is not. Bits behind the last element are zero.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/base/result.h"

namespace sterna::kernels {

inline constexpr std::size_t kSignsPerMean = 65536;

constexpr std::size_t signs_bytes(std::size_t count) {
  return (count + kSignsPerMean - 1) / kSignsPerMean * sizeof(float) + (count + 7) / 8;
}

/// Fills `out`: exactly signs_bytes(values.size()). Each Σ |g| is summed in fp64 in 16 lanes
/// (element i in lane i mod 16), which are then added in order. What is not finite makes the mean
/// so.
void encode_signs(std::span<const float> values, std::span<std::byte> out);

/// Fills `out` from a peer's bytes, at any alignment. Errors: malformed for what encode_signs()
/// would not write, non_finite for a mean that is not; then `out` holds anything.
Result<void> decode_signs(std::span<const std::byte> payload, std::span<float> out);

}  // namespace sterna::kernels
