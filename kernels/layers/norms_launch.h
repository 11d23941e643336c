// What a device is told to compute of a net's normalizations. Plain data that host and device read
// alike; all addresses are the device's. Images lie channels last, so that element i of them is of
// channel i mod `channels`.
#pragma once

#include <cstddef>

#include "kernels/layers/channel_sums.h"
#include "kernels/layers/numbers.h"

namespace sterna::kernels {

/// y = x / (bias + alpha S)^beta, where S is the sum of the squares of the channels at most
/// `radius` away, in their order.
struct LocalNorm {
  Numbers x = nullptr;
  std::size_t count = 0;  ///< elements
  std::size_t channels = 1;
  std::size_t radius = 0;
  float bias = 1;
  float alpha = 0;
  float beta = 0;
};

struct LocalNormLaunch {
  LocalNorm norm;
  Numbers y = nullptr;
};

/// `parts` has room for as many numbers as x. `dx` lies apart from `dy`, or where it lies.
struct LocalNormGradientLaunch {
  LocalNorm norm;
  Numbers dy = nullptr;
  float* parts = nullptr;
  Numbers dx = nullptr;
};

/// So many pixels are passed over by one thread, of one channel or of `wide` neighbours; it reads
/// what is the channels' own once.
constexpr std::size_t pixels_at_once(std::size_t wide) { return wide == 1 ? 8 : 4; }
constexpr std::size_t pixel_threads(std::size_t pixels, std::size_t channels,
                                    std::size_t wide = 1) {
  return (pixels + pixels_at_once(wide) - 1) / pixels_at_once(wide) * (channels / wide);
}

/// y += bias of each channel.
struct BiasLaunch {
  const float* bias = nullptr;
  Numbers y = nullptr;
  std::size_t pixels = 0;  ///< of all images
  std::size_t channels = 1;
};

/// Each channel's sum.
struct ChannelSumLaunch {
  ChannelSums sums;
  Numbers from = nullptr;
  float* to = nullptr;
};

/// Each channel's mean and biased variance.
struct MomentsLaunch {
  ChannelSums sums;
  Numbers x = nullptr;
  float* mean = nullptr;
  float* variance = nullptr;
};

/// y = scale (x - mean) / sqrt(variance + epsilon) + shift of each channel, and with `relu` at
/// least 0.
struct ChannelNorm {
  Numbers x = nullptr;
  const float* scale = nullptr;  ///< null: 1
  const float* shift = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  float epsilon = 0;
  bool relu = false;
};

struct ChannelNormLaunch {
  ChannelNorm norm;
  Numbers y = nullptr;
  std::size_t pixels = 0;  ///< of all images
  std::size_t channels = 1;
};

/// Of a batch whose mean and variance they are. `dx` may lie where `dy` lies.
struct ChannelNormGradientLaunch {
  ChannelNorm norm;
  ChannelSums sums;
  Numbers dy = nullptr;
  Numbers dx = nullptr;
  float* dscale = nullptr;  ///< null: none
  float* dshift = nullptr;
};

}  // namespace sterna::kernels
