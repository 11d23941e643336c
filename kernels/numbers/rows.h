// Row-wise stochastic quantization: TernGrad's idea with 2 to 256 levels between a row's least and
// its largest element.
//
// The format is Caffe2's fused_rowwise_random_quantization_ops: a row of n elements is
//
//   1 byte  b, bits an element: 1, 2, 4 or 8
//   1 byte  tail, the elements that are missing in the last bytes: (-n) mod (8 / b)
//   4 bytes the least element, fp32
//   4 bytes the largest, fp32
//   ceil(n · b / 8) = m bytes; bits b·j to b·j + b - 1 of byte i are the level of element j·m + i
//
// little-endian, with zeros for elements that are missing. Level q stands for
// least + q · (largest - least) / (2^b - 1). An element between two levels becomes the upper one
// with the probability that makes it right on average: floor(t + u), with t its place among the
// levels and u uniform on [0, 1).
//
// Ours: a row is 1,024 neighbouring elements of a tensor, whatever its shape (the last one of a
// chunk may be shorter), and u is word (index mod 4) / 2^32 of Philox with the counter
// (index / 4, step, rank << 16 | tensor, stream `rows`), the run's seed as its key. A least or
// largest element that is a zero is written as +0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/trits/ternary.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

inline constexpr std::size_t kRowElements = 1024;
inline constexpr std::size_t kRowHeaderBytes = 10;

/// The bytes of a row's levels.
constexpr std::size_t level_bytes(std::size_t elements, std::uint32_t bits) {
  const std::size_t each = 8 / bits;
  return (elements + each - 1) / each;
}

/// The bytes of `count` elements in rows.
constexpr std::size_t rows_bytes(std::size_t count, std::uint32_t bits) {
  const std::size_t rest = count % kRowElements;
  return count / kRowElements * (kRowHeaderBytes + level_bytes(kRowElements, bits)) +
         (rest == 0 ? 0 : kRowHeaderBytes + level_bytes(rest, bits));
}

/// Fills `out` (exactly rows_bytes(values.size(), bits)) with rows of `bits`: 1, 2, 4 or 8.
/// `first_index` is the index of values[0] within its tensor, which has fewer than 2^34 elements. A
/// row with a number that is not finite is written so that decode_rows() refuses it.
void encode_rows(std::span<const float> values, std::uint32_t bits, const TernaryDraw& draw,
                 std::uint64_t first_index, std::span<std::byte> out, Isa isa);

/// Fills `out` from a peer's bytes, at any alignment. Errors: malformed for what encode_rows()
/// would not write, non_finite for a least or largest element that is not; then `out` holds
/// anything.
Result<void> decode_rows(std::span<const std::byte> payload, std::span<float> out);

}  // namespace sterna::kernels
