// The k elements of largest magnitude, the others zero (top-k sparsification: Stich et al.,
// "Sparsified SGD with memory", arXiv 1809.07599). What is left out must be fed back.
//
// Of each 65,536 elements in order, the last ones possibly fewer:
//
//   4 bytes        n, how many of them follow
//   2 · n bytes    which: their places among the 65,536, ascending
//   4 · n bytes    their values, fp32
//
// little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.h"

namespace sterna::kernels {

inline constexpr std::size_t kPlacesPerPart = 65536;

/// The bytes of `kept` of `count` elements.
constexpr std::size_t largest_bytes(std::size_t count, std::size_t kept) {
  return (count + kPlacesPerPart - 1) / kPlacesPerPart * sizeof(std::uint32_t) +
         kept * (sizeof(std::uint16_t) + sizeof(float));
}

/// How many of `count` elements a part of them is: at least 1 of any, rounded up.
std::size_t kept_of(std::size_t count, double part);

/// Fills `out`, exactly largest_bytes(values.size(), kept), with the `kept` elements of largest
/// magnitude, at most all of them; of equal ones the first. NaN counts as larger than all numbers.
void encode_largest(std::span<const float> values, std::size_t kept, std::span<std::byte> out);

/// Fills `out` from a peer's bytes, at any alignment: any number of elements, the rest zeros.
/// Errors: malformed for what encode_largest() would not write, non_finite for a value that is not;
/// then `out` holds anything.
Result<void> decode_largest(std::span<const std::byte> payload, std::span<float> out);

}  // namespace sterna::kernels
