#include "kernels/entropy/entropy_format.h"

namespace sterna::kernels {

std::uint64_t load_little(const std::byte* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(from[i]);
  }
  return value;
}

void store_little(std::byte* to, std::size_t bytes, std::uint64_t value) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

RansStates load_states(const std::byte* coded) {
  RansStates states{};
  for (std::size_t i = 0; i < kRansLanes; ++i) {
    states.lane[i] =
        static_cast<std::uint32_t>(load_little(coded + kSegmentHeaderBytes + 4 * i, 4));
  }
  return states;
}

void store_states(const RansStates& states, std::byte* out) {
  for (std::size_t i = 0; i < kRansLanes; ++i) {
    store_little(out + kSegmentHeaderBytes + 4 * i, 4, states.lane[i]);
  }
}

void write_segment_header(const SegmentHeader& header, std::byte* out) {
  out[0] = static_cast<std::byte>(header.kind);
  out[1] = static_cast<std::byte>(header.model);
  store_little(out + 2, 2, header.side_bytes);
  store_little(out + 4, 4, header.word_bytes / 2);
}

Result<SegmentHeader> read_segment_header(std::span<const std::byte> coded, std::size_t planes) {
  if (coded.empty()) return malformed_segment("a segment is missing");
  SegmentHeader header;
  header.kind = static_cast<SegmentKind>(coded[0]);
  if (header.kind == SegmentKind::copied) {
    if (coded.size() - 1 < planes) return malformed_segment("a copied segment is cut short");
    return header;
  }
  if (header.kind > SegmentKind::sums) {
    return malformed_segment("unknown kind of segment " +
                             std::to_string(static_cast<int>(header.kind)));
  }
  if (coded.size() < kSegmentFixedBytes) return malformed_segment("a segment is cut short");
  header.model = std::to_integer<std::uint8_t>(coded[1]);
  header.side_bytes = load_little(coded.data() + 2, 2);
  header.word_bytes = 2 * load_little(coded.data() + 4, 4);
  if (header.segment_bytes() > planes) {
    return malformed_segment("a coded segment is larger than its planes");
  }
  if (coded.size() < header.segment_bytes()) return malformed_segment("a segment is cut short");
  return header;
}

Error malformed_segment(const std::string& what) {
  return {Errc::malformed, "entropy-coded planes: " + what};
}

}  // namespace sterna::kernels
