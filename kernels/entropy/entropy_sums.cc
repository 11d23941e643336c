// Sums by their values: a weight for each value from -ranks to ranks stands beside the words, and a
// symbol's weight is that of its value, or the product of those of its two values.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/entropy/entropy_segment.h"
#include "kernels/sums/sums.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kWeightBytes = 2;
constexpr std::size_t kMostPlanesOfPairs = 4;
constexpr std::size_t kCountedBlocks = 32;

/// By the planes' bits of a value; 0 for what is no sum.
using Weights = std::array<std::uint16_t, 256>;

SymbolLayout layout_of(std::uint32_t ranks) {
  const std::size_t planes = sum_planes(ranks);
  return {planes <= kMostPlanesOfPairs ? Symbols::pairs : Symbols::singles, planes, 0};
}

std::size_t values_of(std::uint32_t ranks) { return 2 * std::size_t{ranks} + 1; }

/// The bits of value `i` - ranks.
std::size_t pattern(std::size_t i, std::uint32_t ranks) {
  return (i - ranks) & ((std::size_t{1} << sum_planes(ranks)) - 1);
}

RansFrequencies frequencies_of(const Weights& weights, const SymbolLayout& layout) {
  const std::size_t patterns = std::size_t{1} << layout.planes;
  std::array<std::uint64_t, 256> symbols{};
  if (layout.kind == Symbols::singles) {
    std::copy_n(weights.begin(), patterns, symbols.begin());
    return rans_frequencies(std::span(symbols).first(patterns));
  }
  for (std::size_t s = 0; s < patterns * patterns; ++s) {
    symbols[s] = std::uint64_t{weights[s % patterns]} * weights[s / patterns];
  }
  return rans_frequencies(std::span(symbols).first(patterns * patterns));
}

// How often each value is in every so many blocks, but at least once.
Weights count_values(const EntropyKernels& kernels, std::uint32_t ranks,
                     std::span<const std::byte> planes) {
  const SymbolLayout layout = layout_of(ranks);
  const std::size_t stride =
      std::max<std::size_t>(1, planes.size() / layout.block_bytes() / kCountedBlocks);
  Weights weights{};
  for (std::size_t i = 0; i < values_of(ranks); ++i) weights[pattern(i, ranks)] = 1;
  std::array<std::byte, kPlaneBlock> symbols;
  const std::size_t mask = (std::size_t{1} << layout.planes) - 1;
  for (std::size_t at = 0; at < planes.size(); at += stride * layout.block_bytes()) {
    kernels.read(layout, planes.data() + at, 1, symbols.data());
    for (std::size_t i = 0; i < layout.per_block(); ++i) {
      const auto symbol = std::to_integer<std::size_t>(symbols[i]);
      ++weights[symbol & mask];
      if (layout.kind == Symbols::pairs) ++weights[symbol >> layout.planes];
    }
  }
  return weights;
}

}  // namespace

std::optional<SegmentHeader> encode_sum_segment(const EntropyKernels& kernels, std::uint32_t ranks,
                                                std::span<const std::byte> planes, std::byte* out) {
  const SymbolLayout layout = layout_of(ranks);
  const Weights weights = count_values(kernels, ranks, planes);
  SegmentHeader header;
  header.kind = SegmentKind::sums;
  header.side_bytes = values_of(ranks) * kWeightBytes;
  for (std::size_t i = 0; i < values_of(ranks); ++i) {
    store_little(out + kSegmentFixedBytes + kWeightBytes * i, kWeightBytes,
                 weights[pattern(i, ranks)]);
  }
  RansStates states{};
  std::fill_n(states.lane, kRansLanes, kRansLowestState);
  const RansEncodeTable table(frequencies_of(weights, layout));
  std::byte* const words = out + kSegmentFixedBytes + header.side_bytes;
  std::byte* const end = out + segment_room(planes.size());
  const std::byte* begin = encode_words(kernels, table, layout, planes, states, words, end);
  if (begin == nullptr) return std::nullopt;
  header.word_bytes = static_cast<std::size_t>(end - begin);
  if (header.segment_bytes() > planes.size()) return std::nullopt;
  write_segment_header(header, out);
  store_states(states, out);
  std::memmove(words, begin, header.word_bytes);
  return header;
}

Result<void> decode_sum_segment(const EntropyKernels& kernels, std::uint32_t ranks,
                                const SegmentHeader& header, std::span<const std::byte> coded,
                                std::span<std::byte> planes) {
  if (header.model != 0) return malformed_segment("unknown model");
  if (header.side_bytes != values_of(ranks) * kWeightBytes) {
    return malformed_segment("not a weight for every value");
  }
  Weights weights{};
  for (std::size_t i = 0; i < values_of(ranks); ++i) {
    const std::uint64_t weight =
        load_little(coded.data() + kSegmentFixedBytes + kWeightBytes * i, kWeightBytes);
    if (weight == 0) return malformed_segment("a value without a weight");
    weights[pattern(i, ranks)] = static_cast<std::uint16_t>(weight);
  }
  const SymbolLayout layout = layout_of(ranks);
  const RansDecodeTable table(frequencies_of(weights, layout));
  const auto words = coded.subspan(kSegmentFixedBytes + header.side_bytes, header.word_bytes);
  RansStates states = load_states(coded.data());
  auto done = decode_words(kernels, table, layout, words, states, planes);
  if (!done) return done;
  for (const std::uint32_t state : states.lane) {
    if (state != kRansLowestState) {
      return malformed_segment("a segment does not end where its encoder began");
    }
  }
  return {};
}

}  // namespace sterna::kernels
