// The elements of largest magnitude, the others zero (top-k sparsification: Stich et al.,
// "Sparsified SGD with memory", arXiv 1809.07599). What is left out must be fed back.
//
// 4 bytes have the number of elements, the others too. Then, of each 65,536 elements in order, the
// last ones possibly fewer:
//
//   4 bytes        k, how many of them follow
//   2 · k bytes    which: their places among the 65,536, ascending
//   4 · k bytes    their values, fp32
//
// little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.h"

namespace sterna::kernels {

inline constexpr std::size_t kPlacesPerPart = 65536;

/// How many of so many elements, at most kPlacesPerPart, a part of them is: rounded up, at least 1.
std::size_t kept_of(std::size_t elements, double part);

/// The bytes of `part` of `count` elements.
std::size_t largest_bytes(std::size_t count, double part);

/// Fills `out`, exactly largest_bytes(values.size(), part), with kept_of() each 65,536 elements,
/// those of largest magnitude; of equal ones the first. NaN counts as larger than all numbers.
/// `part` is above 0 and at most 1.
void encode_largest(std::span<const float> values, double part, std::span<std::byte> out);

/// Fills `out` from a peer's bytes, at any alignment: any number of elements, the rest zeros.
/// Errors: malformed for what encode_largest() would not write, non_finite for a value that is not;
/// then `out` holds anything.
Result<void> decode_largest(std::span<const std::byte> payload, std::span<float> out);

}  // namespace sterna::kernels
