// What a device is told to compute of a net's normalizations. Plain data that host and device read
// alike; all addresses are the device's. Images lie channels last, so that element i of them is of
// channel i mod `channels`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::kernels {

/// y = x / (bias + alpha S)^beta, where S is the sum of the squares of the channels at most
/// `radius` away, in their order.
struct LocalNorm {
  const float* x = nullptr;
  std::size_t count = 0;  ///< elements
  std::size_t channels = 1;
  std::size_t radius = 0;
  float bias = 1;
  float alpha = 0;
  float beta = 0;
};

struct LocalNormLaunch {
  LocalNorm norm;
  float* y = nullptr;
};

/// `parts` has room for as many numbers as x. `dx` lies apart from `dy`, or where it lies.
struct LocalNormGradientLaunch {
  LocalNorm norm;
  const float* dy = nullptr;
  float* parts = nullptr;
  float* dx = nullptr;
};

/// Pixels and channels, and room for two sums of each channel of each block, and of more.
struct ChannelSums {
  std::size_t pixels = 0;  ///< of all images
  std::size_t channels = 0;
  double* sums = nullptr;  ///< channel_sums(pixels, channels) numbers
};

/// A channel's pixels are summed so many at a time, one after the other, in fp64: the fewer there
/// are, the shorter, so that a device has enough to do at once.
constexpr std::size_t moment_block(std::size_t pixels, std::size_t channels) {
  constexpr std::size_t kThreads = 262'144;
  std::size_t block = 16;
  while (block < 256 && block * kThreads < pixels * channels) block *= 2;
  return block;
}
constexpr std::size_t moment_blocks(std::size_t pixels, std::size_t channels) {
  const std::size_t block = moment_block(pixels, channels);
  return (pixels + block - 1) / block;
}
/// Then so many of those sums, and then the sums of those, about as many.
constexpr std::size_t moment_group(std::size_t pixels, std::size_t channels) {
  const std::size_t blocks = moment_blocks(pixels, channels);
  std::size_t group = 16;
  while (group * group < blocks) group *= 2;
  return group;
}
constexpr std::size_t moment_groups(std::size_t pixels, std::size_t channels) {
  const std::size_t group = moment_group(pixels, channels);
  return (moment_blocks(pixels, channels) + group - 1) / group;
}
constexpr std::size_t channel_blocks(const ChannelSums& of) {
  return moment_blocks(of.pixels, of.channels) * of.channels;
}
constexpr std::size_t channel_groups(const ChannelSums& of) {
  return moment_groups(of.pixels, of.channels) * of.channels;
}
/// Two of each block, of each group, and of each channel.
constexpr std::size_t channel_sums(std::size_t pixels, std::size_t channels) {
  return 2 * channels * (moment_blocks(pixels, channels) + moment_groups(pixels, channels) + 1);
}

/// So many of a channel's pixels are passed over by one thread, which reads the channel's own once.
inline constexpr std::size_t kPixelsAtOnce = 8;
constexpr std::size_t pixel_threads(std::size_t pixels, std::size_t channels) {
  return (pixels + kPixelsAtOnce - 1) / kPixelsAtOnce * channels;
}

/// y += bias of each channel.
struct BiasLaunch {
  const float* bias = nullptr;
  float* y = nullptr;
  std::size_t pixels = 0;  ///< of all images
  std::size_t channels = 1;
};

/// Each channel's sum.
struct ChannelSumLaunch {
  ChannelSums sums;
  const float* from = nullptr;
  float* to = nullptr;
};

/// Each channel's mean and biased variance.
struct MomentsLaunch {
  ChannelSums sums;
  const float* x = nullptr;
  float* mean = nullptr;
  float* variance = nullptr;
};

/// y = scale (x - mean) / sqrt(variance + epsilon) + shift of each channel, and with `relu` at
/// least 0.
struct ChannelNorm {
  const float* x = nullptr;
  const float* scale = nullptr;  ///< null: 1
  const float* shift = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  float epsilon = 0;
  bool relu = false;
};

struct ChannelNormLaunch {
  ChannelNorm norm;
  float* y = nullptr;
  std::size_t pixels = 0;  ///< of all images
  std::size_t channels = 1;
};

/// Of a batch whose mean and variance they are. `dx` may lie where `dy` lies.
struct ChannelNormGradientLaunch {
  ChannelNorm norm;
  ChannelSums sums;
  const float* dy = nullptr;
  float* dx = nullptr;
  float* dscale = nullptr;  ///< null: none
  float* dshift = nullptr;
};

}  // namespace sterna::kernels
