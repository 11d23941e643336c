#include "kernels/scaler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/scaler_blocks.h"

namespace sterna::kernels {
namespace {

constexpr float smallest_clip = 1e-5F;  // below it clipping is off, as in the original's flag
constexpr std::uint32_t infinity_bits = 0x7F800000;

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

struct Moments {
  double sum = 0;
  double squares = 0;
};

// S1 and S2: within a block fp32 lanes; the lanes in order, then the blocks in order, in fp64.
Moments moments(std::span<const float> x, Isa isa) {
  const auto sum_one = isa == Isa::avx512 ? sum_block_avx512 : sum_block;
  Moments total;
  for (std::size_t begin = 0; begin < x.size(); begin += sigma_block) {
    LaneSums lanes;
    sum_one(x.data() + begin, std::min(sigma_block, x.size() - begin), lanes);
    Moments block;
    for (std::size_t lane = 0; lane < sigma_lanes; ++lane) {
      block.sum += double{lanes.sum[lane]};
      block.squares += double{lanes.squares[lane]};
    }
    total.sum += block.sum;
    total.squares += block.squares;
  }
  return total;
}

}  // namespace

void sum_block(const float* x, std::size_t count, LaneSums& sums) {
  sums = {};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = i % sigma_lanes;
    sums.sum[lane] += x[i];
    sums.squares[lane] = std::fma(x[i], x[i], sums.squares[lane]);
  }
}

std::uint32_t max_magnitude(const float* x, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFU);
  }
  return largest;
}

Result<float> scaler(std::span<const float> gradient, float clip, Isa isa) {
  if (gradient.empty()) return 0.0F;
  if (clip > smallest_clip) {
    const Moments m = moments(gradient, isa);
    // Any NaN or infinity in the gradient is still there in the sum of squares.
    if (!std::isfinite(m.squares) || !std::isfinite(m.sum)) return non_finite(gradient);
    const auto n = static_cast<double>(gradient.size());
    const double mean = m.sum / n;
    const auto sigma = static_cast<float>(std::sqrt(std::max(0.0, m.squares / n - mean * mean)));
    const float s = clip * sigma;
    if (!std::isfinite(s)) return non_finite(gradient);
    return s;
  }
  const std::uint32_t bits = isa == Isa::avx512
                                 ? max_magnitude_avx512(gradient.data(), gradient.size())
                                 : max_magnitude(gradient.data(), gradient.size());
  if (bits >= infinity_bits) return non_finite(gradient);
  return std::bit_cast<float>(bits);
}

}  // namespace sterna::kernels
