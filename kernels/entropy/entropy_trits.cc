// Trits by their `nonzero` planes, under a model of one byte; signs are packed bits beside them, as
// they cannot be coded in less. The first signs cost nothing: they are the lower bits of the states
// from which the encoder starts, and at which the decoder arrives.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/entropy/entropy.h"
#include "kernels/entropy/entropy_segment.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kCarriedBytes = 2 * kRansLanes;
constexpr std::size_t kSignSlack = 16;  // of pack_signs and unpack_signs
constexpr std::uint8_t kAllOnes = 0xFF;

/// Bytes of signs that the states do not carry.
std::size_t side_bytes(std::size_t nonzero) {
  constexpr std::size_t kCarried = 8 * kCarriedBytes;
  return nonzero <= kCarried ? 0 : (nonzero - kCarried + 7) / 8;
}

SymbolLayout layout_of(const SegmentHeader& header) {
  return {symbols_of(header.model), 2,
          header.kind == SegmentKind::dense ? kAllOnes : std::uint8_t{0}};
}

bool any_set(std::span<const std::byte> bytes, std::size_t from_bit) {
  for (std::size_t i = from_bit; i < 8 * bytes.size(); ++i) {
    if ((bytes[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0}) return true;
  }
  return false;
}

}  // namespace

// Words grow down from the end of the room while signs and states stand at its front; the words
// move there at the end.
std::optional<SegmentHeader> encode_trit_segment(const EntropyKernels& kernels,
                                                 TritTables<RansEncodeTable>& tables,
                                                 std::span<const std::byte> planes,
                                                 std::byte* out) {
  const std::size_t blocks = planes.size() / kPlaneBlockBytes;
  const std::size_t elements = blocks * kPlaneBlock;
  std::byte* carried = out + kSegmentFixedBytes - kCarriedBytes;  // the others fall into place
  std::memset(carried, 0, kCarriedBytes + kSignSlack);
  const std::size_t nonzero = kernels.pack(planes.data(), blocks, carried);
  RansStates states{};
  for (std::size_t i = 0; i < kRansLanes; ++i) {
    states.lane[i] = kRansLowestState | static_cast<std::uint32_t>(load_little(carried + 2 * i, 2));
  }
  SegmentHeader header;
  header.kind = 2 * nonzero > elements ? SegmentKind::dense : SegmentKind::sparse;
  header.model = trit_model(std::min(nonzero, elements - nonzero), elements);
  header.side_bytes = side_bytes(nonzero);
  std::byte* const words = out + kSegmentFixedBytes + header.side_bytes;
  std::byte* const end = out + segment_room(planes.size());
  const std::byte* begin =
      encode_words(kernels, tables.of(header.model), layout_of(header), planes, states, words, end);
  if (begin == nullptr) return std::nullopt;
  header.word_bytes = static_cast<std::size_t>(end - begin);
  if (header.segment_bytes() > planes.size()) return std::nullopt;
  write_segment_header(header, out);
  store_states(states, out);
  std::memmove(words, begin, header.word_bytes);
  return header;
}

Result<void> decode_trit_segment(const EntropyKernels& kernels, TritTables<RansDecodeTable>& tables,
                                 const SegmentHeader& header, std::span<const std::byte> coded,
                                 std::span<std::byte> planes) {
  if (header.model > kMostTritModel) return malformed_segment("unknown model");
  const auto side = coded.subspan(kSegmentFixedBytes, header.side_bytes);
  const auto words = coded.subspan(kSegmentFixedBytes + side.size(), header.word_bytes);
  RansStates states = load_states(coded.data());
  auto done =
      decode_words(kernels, tables.of(header.model), layout_of(header), words, states, planes);
  if (!done) return done;

  const std::size_t blocks = planes.size() / kPlaneBlockBytes;
  const std::size_t nonzero = kernels.count(planes.data(), blocks);
  if (side.size() != side_bytes(nonzero)) {
    return malformed_segment("not a sign for every nonzero trit");
  }
  std::array<std::byte, kCarriedBytes + kEntropySegment / 8 + kSignSlack> signs;
  for (std::size_t i = 0; i < kRansLanes; ++i) {
    store_little(signs.data() + 2 * i, 2, states.lane[i]);
  }
  std::byte* end = std::copy(side.begin(), side.end(), signs.data() + kCarriedBytes);
  std::fill_n(end, kSignSlack, std::byte{0});
  if (any_set(std::span(signs.data(), end), nonzero)) {
    return malformed_segment("more signs than nonzero trits");
  }
  kernels.unpack(signs.data(), blocks, planes.data());
  return {};
}

}  // namespace sterna::kernels
