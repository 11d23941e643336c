#include "nets/tensor/loss.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sterna::nets {

float softmax_cross_entropy(std::span<const float> logits, std::span<const std::uint16_t> labels,
                            std::size_t classes, std::span<float> gradient,
                            const CrossEntropy& options) {
  const std::size_t batch = labels.size();
  const double share = options.weight / static_cast<double>(batch);
  const double even = options.smoothing / static_cast<double>(classes);
  double loss = 0;
  for (std::size_t row = 0; row < batch; ++row) {
    const std::span<const float> z = logits.subspan(row * classes, classes);
    const std::span<float> dz = gradient.subspan(row * classes, classes);
    // Relative to the largest, so that no exponential overflows.
    const double largest = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (const float value : z) sum += std::exp(value - largest);
    for (std::size_t k = 0; k < classes; ++k)
      dz[k] = static_cast<float>((std::exp(z[k] - largest) / sum - even) * share);
    const double chosen = z[labels[row]] - largest;
    dz[labels[row]] =
        static_cast<float>((std::exp(chosen) / sum - (1.0 - options.smoothing + even)) * share);
    loss += std::log(sum) - (1.0 - options.smoothing) * chosen;
    if (even > 0) {
      for (const float value : z) loss -= even * (value - largest);
    }
  }
  return static_cast<float>(loss * share);
}

float squared_error(std::span<const float> values, float target, std::span<float> gradient,
                    double weight) {
  const double share = weight / static_cast<double>(values.size());
  double loss = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = double{values[i]} - target;
    gradient[i] = static_cast<float>(2 * error * share);
    loss += error * error;
  }
  return static_cast<float>(loss * share);
}

double add_decay(std::span<const float> weights, float decay, std::span<float> gradient) {
  // 16 lanes in fp32 per block of 4,096, all else in fp64: vectors for the compiler, and no long
  // fp32 sums.
  constexpr std::size_t kLanes = 16, kBlock = 4096;
  double total = 0;
  for (std::size_t start = 0; start < weights.size(); start += kBlock) {
    const std::size_t count = std::min(kBlock, weights.size() - start);
    const float* w = weights.data() + start;
    float* g = gradient.data() + start;
    std::array<float, kLanes> sums{};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float value = w[i + lane];
        g[i + lane] += decay * value;
        sums[lane] += value * value;
      }
    }
    for (std::size_t lane = 0; i + lane < count; ++lane) {
      const float value = w[i + lane];
      g[i + lane] += decay * value;
      sums[lane] += value * value;
    }
    double block = 0;
    for (const float sum : sums) block += sum;
    total += block;
  }
  return total;
}

}  // namespace sterna::nets
