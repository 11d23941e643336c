#include "kernels/trits/ternary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string>

#include "kernels/random/philox.h"
#include "kernels/random/stream.h"
#include "kernels/trits/statistics_fold.h"
#include "kernels/trits/ternary_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlaneBytes = kPlaneBlockBytes / 2;
constexpr float kSmallestScaler = 0x1p-95F;  // 2^32 / s is infinite not far below it
constexpr float kTwoTo32 = 0x1p32F;

// |g| / s in 2^-32ths, saturated (a NaN too): the probability of a nonzero trit.
std::uint32_t threshold(float g, float k) {
  const float t = std::fabs(g) * k;
  return t < kTwoTo32 ? static_cast<std::uint32_t>(t) : 0xFFFFFFFFU;
}

void set_bit(std::byte* plane, std::size_t i) { plane[i / 8] |= std::byte{1} << (i % 8); }
bool bit(const std::byte* plane, std::size_t i) {
  return (plane[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
}

std::uint64_t load64(const std::byte* p) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void ternarize_blocks(const BlockRun& run) {
  std::fill_n(run.planes, run.blocks * kPlaneBlockBytes, std::byte{0});
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const float* g = run.gradient + block * kPlaneBlock;
    std::byte* nonzero = run.planes + block * kPlaneBlockBytes;
    std::byte* negative = nonzero + kPlaneBytes;
    const auto base = run.draw.counter0 + static_cast<std::uint32_t>(block) * kDrawsPerBlock;
    for (std::uint32_t i = 0; i < kDrawsPerBlock; ++i) {
      const auto words = philox({base + i, run.draw.step, run.draw.rank_tensor,
                                 static_cast<std::uint32_t>(Stream::ternary)},
                                run.draw.key);
      for (std::size_t j = 0; j < 16; ++j) {
        const std::size_t element = j * kDrawsPerBlock + i;
        const std::uint32_t word = std::rotl(words[j / 4], static_cast<int>(8 * (j % 4)));
        if (word >= threshold(g[element], run.k)) continue;
        set_bit(nonzero, element);
        if (std::signbit(g[element])) set_bit(negative, element);
      }
    }
  }
}

void ternarize_and_count(const BlockRun& run, PassTotals& totals) {
  ternarize_blocks(run);
  for (std::size_t i = 0; i < run.blocks * kPlaneBlock; ++i) {
    if (std::fabs(run.gradient[i]) > run.scaler) ++totals.saturated;
  }
}

void ternarize_and_sum(const BlockRun& run, PassTotals& totals) {
  ternarize_and_count(run, totals);
  for (std::size_t block = 0; block < run.blocks; ++block) {
    LaneSums* sums = totals.sums + (run.first + block) * kPlaneBlock / kSigmaBlock;
    scalar_scaler().add_blocks(run.gradient + block * kPlaneBlock, kPlaneBlock, sums);
  }
}

void ternarize_and_max(const BlockRun& run, PassTotals& totals) {
  ternarize_and_count(run, totals);
  totals.largest = std::max(totals.largest,
                            scalar_scaler().max_magnitude(run.gradient, run.blocks * kPlaneBlock));
}

void decode_blocks(const std::byte* planes, float scaler, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* nonzero = planes + i / kPlaneBlock * kPlaneBlockBytes;
    const std::byte* negative = nonzero + kPlaneBytes;
    const std::size_t element = i % kPlaneBlock;
    out[i] = !bit(nonzero, element) ? 0.0F : bit(negative, element) ? -scaler : scaler;
  }
}

/// A part of a tensor as runs of whole blocks.
struct Runs {
  /// The blocks for which there is something to fetch ahead; those left; and the last one if it is
  /// short, filled with zeros, which never become nonzero trits nor change a sum.
  std::array<BlockRun, 3> runs;
  alignas(64) std::array<float, kPlaneBlock> padded{};

  Runs(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
       std::uint64_t first_index, std::span<std::byte> planes, std::span<const float> ahead) {
    assert(planes.size() == planes_bytes(gradient.size()));
    assert(first_index % kPlaneBlock == 0);
    assert(draw.rank < 0x10000U && draw.tensor < 0x10000U);
    const std::size_t whole = gradient.size() / kPlaneBlock;
    const std::size_t fetching = std::min(whole, ahead.size() / kPlaneBlock);
    const auto rest = gradient.subspan(whole * kPlaneBlock);
    std::copy(rest.begin(), rest.end(), padded.begin());
    const auto run = [&](std::size_t first, std::size_t end) {
      const std::uint64_t counter = (first_index / kPlaneBlock + first) * kDrawsPerBlock;
      const float* from = gradient.data() + first * kPlaneBlock;
      return BlockRun{.gradient = from,
                      .blocks = end - first,
                      .first = first,
                      .k = scaler >= kSmallestScaler ? kTwoTo32 / scaler : 0,
                      .scaler = scaler,
                      .draw = {static_cast<std::uint32_t>(counter), draw.step,
                               draw.rank << 16 | draw.tensor, draw.seed},
                      .planes = planes.data() + first * kPlaneBlockBytes,
                      .ahead = from};
    };
    runs = {run(0, fetching), run(fetching, whole), run(whole, whole + (rest.empty() ? 0 : 1))};
    runs[0].ahead = ahead.data();
    runs[2].gradient = runs[2].ahead = padded.data();
  }
};

}  // namespace

TernaryKernels scalar_ternary() {
  return {ternarize_blocks, ternarize_and_sum, ternarize_and_max, decode_blocks};
}

TernaryKernels ternary_kernels(Isa isa) {
  return twin(isa, scalar_ternary, avx2_ternary, avx512_ternary)();
}

void ternarize(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
               std::uint64_t first_index, std::span<std::byte> planes, Isa isa) {
  ternarize(gradient, scaler, draw, first_index, planes, a_little_ahead(gradient, 0), isa);
}

void ternarize(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
               std::uint64_t first_index, std::span<std::byte> planes, std::span<const float> ahead,
               Isa isa) {
  const Runs parts(gradient, scaler, draw, first_index, planes, ahead);
  const auto ternarize_run = ternary_kernels(isa).ternarize;
  for (const BlockRun& run : parts.runs) ternarize_run(run);
}

ChunkStatistics ternarize_and_measure(std::span<const float> chunk, float scaler, float clip,
                                      const TernaryDraw& draw, std::uint64_t first_index,
                                      std::span<std::byte> planes, std::span<const float> ahead,
                                      Isa isa) {
  assert(chunk.size() <= kChunkElements);
  assert(first_index % kChunkElements == 0);
  const Runs parts(chunk, scaler, draw, first_index, planes, ahead);
  const TernaryKernels kernels = ternary_kernels(isa);
  const auto ternarize_run = clips(clip) ? kernels.ternarize_and_sum : kernels.ternarize_and_max;
  std::array<LaneSums, kChunkElements / kSigmaBlock> lanes{};
  PassTotals totals{.sums = lanes.data()};
  for (const BlockRun& run : parts.runs) ternarize_run(run, totals);
  ChunkStatistics found;
  found.elements = chunk.size();
  if (clips(clip)) add_lanes(lanes.data(), found);
  found.largest_bits = totals.largest;
  found.saturated = totals.saturated;
  return found;
}

void decode(std::span<const std::byte> planes, float scaler, std::span<float> out, Isa isa) {
  assert(planes.size() == planes_bytes(out.size()));
  ternary_kernels(isa).decode(planes.data(), scaler, out.data(), out.size());
}

Result<void> check_planes(std::span<const std::byte> planes, std::size_t count) {
  if (planes.size() != planes_bytes(count)) {
    return Error{Errc::malformed, "planes of " + std::to_string(count) + " elements take " +
                                      std::to_string(planes_bytes(count)) + " bytes, not " +
                                      std::to_string(planes.size())};
  }
  std::uint64_t stray = 0;
  for (std::size_t begin = 0; begin < planes.size(); begin += kPlaneBlockBytes) {
    const std::byte* nonzero = planes.data() + begin;
    for (std::size_t i = 0; i < kPlaneBytes; i += 8) {
      stray |= load64(nonzero + kPlaneBytes + i) & ~load64(nonzero + i);
    }
  }
  if (stray != 0) return Error{Errc::malformed, "a trit is negative but not nonzero"};
  if (count % kPlaneBlock != 0) {
    const std::byte* nonzero = planes.data() + planes.size() - kPlaneBlockBytes;
    for (std::size_t i = count % kPlaneBlock; i < kPlaneBlock; ++i) {
      if (bit(nonzero, i)) return Error{Errc::malformed, "a trit is set behind the last element"};
    }
  }
  return {};
}

std::size_t count_nonzero(const std::byte* planes, std::size_t blocks) {
  std::size_t count = 0;
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += sizeof(std::uint64_t)) {
      count += static_cast<std::size_t>(std::popcount(load64(planes + i)));
    }
  }
  return count;
}

std::size_t nonzero_trits(std::span<const std::byte> planes, Isa isa) {
  const auto count = twin(isa, count_nonzero, count_nonzero_avx2, count_nonzero_avx512);
  return count(planes.data(), planes.size() / kPlaneBlockBytes);
}

}  // namespace sterna::kernels
