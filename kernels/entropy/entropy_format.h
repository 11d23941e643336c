// The frame of a segment of entropy-coded planes: header, states, and the sizes in between.
// Internal; kernels/entropy/ENTROPY.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/entropy/entropy_symbols.h"
#include "kernels/entropy/rans.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// A segment's first byte.
enum class SegmentKind : std::uint8_t {
  copied = 0,  ///< the planes follow
  sparse = 1,  ///< trits by the symbols of `nonzero`
  dense = 2,   ///< trits by those of its complement
  sums = 3,    ///< sums by the symbols of their values
};

inline constexpr std::size_t kSegmentHeaderBytes = 8;
inline constexpr std::size_t kSegmentStatesBytes = 4 * kRansLanes;
/// What every coded segment begins with; its side (SegmentHeader) follows.
inline constexpr std::size_t kSegmentFixedBytes = kSegmentHeaderBytes + kSegmentStatesBytes;

/// What stands before a coded segment's states; behind them come the side (signs of trits, weights
/// of sums) and the words.
struct SegmentHeader {
  SegmentKind kind = SegmentKind::copied;
  std::uint8_t model = 0;
  std::size_t side_bytes = 0;
  std::size_t word_bytes = 0;
  std::size_t segment_bytes() const { return kSegmentFixedBytes + side_bytes + word_bytes; }
};

void write_segment_header(const SegmentHeader& header, std::byte* out);

/// The header of the segment of `planes` bytes of planes at the front of a peer's bytes, all of
/// which are there: for a copied one 1 + planes, else segment_bytes().
Result<SegmentHeader> read_segment_header(std::span<const std::byte> coded, std::size_t planes);

RansStates load_states(const std::byte* coded);
void store_states(const RansStates& states, std::byte* out);

std::uint64_t load_little(const std::byte* from, std::size_t bytes);
void store_little(std::byte* to, std::size_t bytes, std::uint64_t value);

Error malformed_segment(const std::string& what);

}  // namespace sterna::kernels
