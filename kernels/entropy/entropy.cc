#include "kernels/entropy/entropy.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "kernels/entropy/entropy_segment.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kMostCodedRanks = 127;  // a value is a symbol: 8 planes

std::size_t block_bytes(std::uint32_t ranks) { return sum_bytes(1, ranks); }

std::size_t segment_bytes(const SegmentHeader& header, std::size_t planes) {
  return header.kind == SegmentKind::copied ? 1 + planes : header.segment_bytes();
}

Result<void> check(std::span<const std::byte> planes, std::size_t count, std::uint32_t ranks,
                   Isa isa) {
  return ranks == 1 ? check_planes(planes, count) : check_sums(planes, count, ranks, isa);
}

class Encoder {
 public:
  Encoder(std::uint32_t ranks, Isa isa) : ranks_(ranks), kernels_(entropy_kernels(isa)) {}

  std::size_t encode(std::span<const std::byte> planes, std::byte* out) {
    if (const auto header = coded(planes, out)) return header->segment_bytes();
    out[0] = static_cast<std::byte>(SegmentKind::copied);
    std::memcpy(out + 1, planes.data(), planes.size());
    return 1 + planes.size();
  }

 private:
  std::optional<SegmentHeader> coded(std::span<const std::byte> planes, std::byte* out) {
    if (planes.size() <= kSegmentFixedBytes || ranks_ > kMostCodedRanks) return std::nullopt;
    if (ranks_ == 1) return encode_trit_segment(kernels_, tables_, planes, out);
    return encode_sum_segment(kernels_, ranks_, planes, out);
  }

  std::uint32_t ranks_;
  EntropyKernels kernels_;
  TritTables<RansEncodeTable> tables_;
};

class Decoder {
 public:
  Decoder(std::uint32_t ranks, Isa isa)
      : ranks_(ranks), isa_(isa), kernels_(entropy_kernels(isa)) {}

  /// Decodes the segment at the front of `bytes` and returns what it takes of them.
  Result<std::size_t> decode(std::span<const std::byte> bytes, std::size_t count,
                             std::span<std::byte> planes) {
    const auto header = read_segment_header(bytes, planes.size());
    if (!header) return header.error();
    auto checked = planes;
    if (header->kind == SegmentKind::copied) {
      std::memcpy(planes.data(), bytes.data() + 1, planes.size());
    } else {
      auto done = coded(*header, bytes.first(header->segment_bytes()), planes);
      if (!done) return done.error();
      checked = planes.last(block_bytes(ranks_));  // the others cannot be wrong
      count = (count - 1) % kPlaneBlock + 1;
    }
    auto right = check(checked, count, ranks_, isa_);
    if (!right) return right.error();
    return segment_bytes(*header, planes.size());
  }

 private:
  Result<void> coded(const SegmentHeader& header, std::span<const std::byte> bytes,
                     std::span<std::byte> planes) {
    if ((header.kind == SegmentKind::sums) != (ranks_ != 1) || ranks_ > kMostCodedRanks) {
      return malformed_segment("a segment is of another kind");
    }
    if (ranks_ == 1) return decode_trit_segment(kernels_, tables_, header, bytes, planes);
    return decode_sum_segment(kernels_, ranks_, header, bytes, planes);
  }

  std::uint32_t ranks_;
  Isa isa_;
  EntropyKernels kernels_;
  TritTables<RansDecodeTable> tables_;
};

}  // namespace

std::size_t entropy_encode(std::span<const std::byte> planes, std::size_t count,
                           std::uint32_t ranks, std::span<std::byte> out, Isa isa) {
  assert(planes.size() == sum_bytes(count, ranks) && out.size() >= entropy_room(count, ranks));
  Encoder encoder(ranks, isa);
  std::size_t size = 0;
  for (std::size_t begin = 0; begin < count; begin += kEntropySegment) {
    const std::size_t elements = std::min(kEntropySegment, count - begin);
    const auto segment = planes.subspan(sum_bytes(begin, ranks), sum_bytes(elements, ranks));
    size += encoder.encode(segment, out.data() + size);
  }
  return size;
}

Result<void> entropy_decode(std::span<const std::byte> coded, std::size_t count,
                            std::uint32_t ranks, std::span<std::byte> planes, Isa isa) {
  assert(planes.size() == sum_bytes(count, ranks));
  Decoder decoder(ranks, isa);
  for (std::size_t begin = 0; begin < count; begin += kEntropySegment) {
    const std::size_t elements = std::min(kEntropySegment, count - begin);
    const auto segment = planes.subspan(sum_bytes(begin, ranks), sum_bytes(elements, ranks));
    const auto taken = decoder.decode(coded, elements, segment);
    if (!taken) return taken.error();
    coded = coded.subspan(*taken);
  }
  if (!coded.empty()) return malformed_segment("bytes are left behind the last segment");
  return {};
}

Result<std::size_t> entropy_prefix(std::span<const std::byte> coded, std::size_t count,
                                   std::uint32_t ranks) {
  std::size_t size = 0;
  for (std::size_t begin = 0; begin < count; begin += kEntropySegment) {
    const std::size_t planes = sum_bytes(std::min(kEntropySegment, count - begin), ranks);
    const auto header = read_segment_header(coded.subspan(size), planes);
    if (!header) return header.error();
    size += segment_bytes(*header, planes);
  }
  return size;
}

}  // namespace sterna::kernels
