// Planes to fewer bytes and back, exactly: trits (kernels/trits/ternary.h) for codec
// `ternary_entropy`, and their sums (kernels/sums/sums.h). Trits are the sums over one rank here,
// as in their layout. Format and test vectors: kernels/entropy/ENTROPY.md.
//
// The elements are cut into segments of kEntropySegment, each coded with the table that fits its
// values, or copied where that is not longer. Segments do not depend on each other: several threads
// may each code a run of whole segments, and their bytes in order are those of one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/sums/sums.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// Elements of every segment but the last.
inline constexpr std::size_t kEntropySegment = 131'072;

/// The most bytes that `count` elements can take once coded: one per segment more than as planes.
constexpr std::size_t most_entropy_bytes(std::size_t count, std::uint32_t ranks) {
  return sum_bytes(count, ranks) + (count + kEntropySegment - 1) / kEntropySegment;
}

/// The room that entropy_encode needs to work in, a little more than most_entropy_bytes.
constexpr std::size_t entropy_room(std::size_t count, std::uint32_t ranks) {
  return most_entropy_bytes(count, ranks) + 4096;
}

/// Codes the planes of `count` elements over `ranks` ranks, which check_planes or check_sums
/// accepts, to the front of `out`, which has at least entropy_room(count, ranks) bytes; what lies
/// behind the result is overwritten too. Returns the result's size. The bytes are the same for
/// every instruction set.
std::size_t entropy_encode(std::span<const std::byte> planes, std::size_t count,
                           std::uint32_t ranks, std::span<std::byte> out, Isa isa);

/// Fills `planes`, exactly sum_bytes(count, ranks) bytes, from all of a peer's bytes. What it fills
/// in is what check_planes or check_sums accepts; if the bytes do not stand for that, the result is
/// Errc::malformed, and `planes` holds anything. Needs no memory besides, but 50 KiB of stack.
Result<void> entropy_decode(std::span<const std::byte> coded, std::size_t count,
                            std::uint32_t ranks, std::span<std::byte> planes, Isa isa);

/// The bytes that the first `count` elements take of a peer's bytes, so that threads can share the
/// decoding: `count` is a multiple of kEntropySegment, or all elements. Errc::malformed if there
/// are not so many.
Result<std::size_t> entropy_prefix(std::span<const std::byte> coded, std::size_t count,
                                   std::uint32_t ranks);

}  // namespace sterna::kernels
