#include "kernels/trits/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <string>

#include "kernels/trits/statistics_fold.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kInfinityBits = 0x7F800000;

}  // namespace

Error non_finite(std::span<const float> gradient) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (!std::isfinite(gradient[i])) {
      return Error{Errc::non_finite,
                   "gradient element " + std::to_string(i) + " is " +
                       (std::isnan(gradient[i]) ? "NaN" : "infinite") +
                       "; a lower learning rate, or a smaller initial stddev, usually helps"};
    }
  }
  return Error{Errc::non_finite,
               "the gradient is so large that its squares overflow fp32; a lower learning rate "
               "usually helps"};
}

void add_lanes(const LaneSums* lanes, ChunkStatistics& to) {
  const std::size_t blocks = (to.elements + kSigmaBlock - 1) / kSigmaBlock;
  for (std::size_t block = 0; block < blocks; ++block) {
    double sum = 0;
    double squares = 0;
    for (std::size_t lane = 0; lane < kSigmaLanes; ++lane) {
      sum += double{lanes[block].sum[lane]};
      squares += double{lanes[block].squares[lane]};
    }
    to.blocks[block] = {sum, squares};
  }
}

ChunkStatistics measure_chunk(std::span<const float> chunk, float clip, Isa isa) {
  assert(chunk.size() <= kChunkElements);
  const ScalerKernels kernels = scaler_kernels(isa);
  ChunkStatistics found;
  found.elements = chunk.size();
  if (clips(clip)) {
    std::array<LaneSums, kChunkElements / kSigmaBlock> lanes{};
    kernels.add_blocks(chunk.data(), chunk.size(), lanes.data());
    add_lanes(lanes.data(), found);
  } else {
    found.largest_bits = kernels.max_magnitude(chunk.data(), chunk.size());
  }
  return found;
}

void GradientStatistics::fold(const ChunkStatistics& next) {
  // Behind the last block of a short chunk stand zeros, which change no sum: no sum is ever -0.
  ChunkStatistics::BlockSums chunk;
  for (const ChunkStatistics::BlockSums& block : next.blocks) {
    chunk.sum += block.sum;
    chunk.squares += block.squares;
  }
  sum_ += chunk.sum;
  squares_ += chunk.squares;
  largest_bits_ = std::max(largest_bits_, next.largest_bits);
  elements_ += next.elements;
  saturated_ += next.saturated;
}

bool GradientStatistics::finite() const {
  // Any NaN or infinity in the gradient is still there in the sum of squares.
  return largest_bits_ < kInfinityBits && std::isfinite(squares_) && std::isfinite(sum_);
}

Result<float> GradientStatistics::scaler(float clip, std::span<const float> gradient) const {
  assert(gradient.size() == elements_);
  if (elements_ == 0) return 0.0F;
  if (!finite()) return non_finite(gradient);
  if (!clips(clip)) return std::bit_cast<float>(largest_bits_);
  const auto n = static_cast<double>(elements_);
  const double mean = sum_ / n;
  const auto sigma = static_cast<float>(std::sqrt(std::max(0.0, squares_ / n - mean * mean)));
  const float s = clip * sigma;
  if (std::isfinite(s)) return s;
  return Error{Errc::non_finite,
               fmt::format("the gradient's standard deviation {:g} times the clip {:g} overflows "
                           "fp32; a smaller gradient.clip helps",
                           sigma, clip)};
}

}  // namespace sterna::kernels
