// The arithmetic of norms_launch.h, written once for nvcc and for the host's compiler: what one
// thread of a device does. Powers are those of whoever computes them; all else has the same bits
// everywhere.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/isa/warp.h"
#include "kernels/layers/norms_launch.h"

namespace sterna::kernels {

/// Calls visit(element) for the channels around that of element i, in their order.
template <class Visit>
STERNA_DEVICE void for_channels_around(const LocalNorm& norm, std::size_t i, Visit visit) {
  const std::size_t channel = i % norm.channels;
  const std::size_t below = channel < norm.radius ? channel : norm.radius;
  const std::size_t left = norm.channels - 1 - channel;
  const std::size_t above = left < norm.radius ? left : norm.radius;
  for (std::size_t at = i - below; at <= i + above; ++at) visit(at);
}

/// bias + alpha S around element i.
STERNA_DEVICE float local_energy(const LocalNorm& norm, std::size_t i) {
  float squares = 0;
  for_channels_around(norm, i, [&](std::size_t at) { squares += norm.x[at] * norm.x[at]; });
  return norm.bias + norm.alpha * squares;
}

STERNA_DEVICE void normalize_locally(const LocalNormLaunch& launch, std::size_t i) {
  const LocalNorm& norm = launch.norm;
  launch.y[i] = norm.x[i] * std::pow(local_energy(norm, i), -norm.beta);
}

/// What element i adds to the gradients around it.
STERNA_DEVICE void local_part(const LocalNormGradientLaunch& launch, std::size_t i) {
  const LocalNorm& norm = launch.norm;
  const float energy = local_energy(norm, i);
  launch.parts[i] = launch.dy[i] * norm.x[i] * std::pow(energy, -norm.beta) / energy;
}

/// After all parts.
STERNA_DEVICE void local_gradient(const LocalNormGradientLaunch& launch, std::size_t i) {
  const LocalNorm& norm = launch.norm;
  float sum = 0;
  for_channels_around(norm, i, [&](std::size_t at) { sum += launch.parts[at]; });
  const float own = launch.dy[i] * std::pow(local_energy(norm, i), -norm.beta);
  launch.dx[i] = own - 2 * norm.alpha * norm.beta * norm.x[i] * sum;
}

/// The two sums of channel `channel` of block `block`; behind the blocks lie those of groups, and
/// then the channel's own.
STERNA_DEVICE double* sums_of(const ChannelSums& sums, std::size_t block, std::size_t channel) {
  return sums.sums + 2 * (block * sums.channels + channel);
}

/// Thread i adds up a block of a channel's pixels: add(element, sums).
template <class Add>
STERNA_DEVICE void sum_block(const ChannelSums& sums, std::size_t i, Add add) {
  const std::size_t block = i / sums.channels;
  const std::size_t channel = i % sums.channels;
  const std::size_t size = moment_block(sums.pixels, sums.channels);
  const std::size_t first = block * size;
  const std::size_t end = first + size < sums.pixels ? first + size : sums.pixels;
  double one = 0;
  double other = 0;
  STERNA_UNROLL_BY(8)
  for (std::size_t pixel = first; pixel < end; ++pixel) {
    add(pixel * sums.channels + channel, one, other);
  }
  double* const to = sums_of(sums, block, channel);
  to[0] = one;
  to[1] = other;
}

/// Adds up blocks [first, end) of a channel into `to`.
STERNA_DEVICE void add_blocks(const ChannelSums& sums, std::size_t channel, std::size_t first,
                              std::size_t end, double* to) {
  constexpr std::uint32_t kTogether = 16;  // loads that are under way at once
  double one = 0;
  double other = 0;
  for (; first + kTogether <= end; first += kTogether) {
    double ones[kTogether];
    double others[kTogether];
    STERNA_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      const double* const part = sums_of(sums, first + i, channel);
      ones[i] = part[0];
      others[i] = part[1];
    }
    STERNA_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      one += ones[i];
      other += others[i];
    }
  }
  for (; first < end; ++first) {
    const double* const part = sums_of(sums, first, channel);
    one += part[0];
    other += part[1];
  }
  to[0] = one;
  to[1] = other;
}

/// After all blocks: thread i adds up a group of a channel's.
STERNA_DEVICE void sum_group(const ChannelSums& sums, std::size_t i) {
  const std::size_t blocks = moment_blocks(sums.pixels, sums.channels);
  const std::size_t group = i / sums.channels;
  const std::size_t channel = i % sums.channels;
  const std::size_t size = moment_group(sums.pixels, sums.channels);
  const std::size_t first = group * size;
  const std::size_t end = first + size < blocks ? first + size : blocks;
  add_blocks(sums, channel, first, end, sums_of(sums, blocks + group, channel));
}

/// Where a channel's own two sums lie.
STERNA_DEVICE double* all_of(const ChannelSums& sums, std::size_t channel) {
  const std::size_t blocks = moment_blocks(sums.pixels, sums.channels);
  return sums_of(sums, blocks + moment_groups(sums.pixels, sums.channels), channel);
}

/// After all groups: adds up those of a channel.
STERNA_DEVICE double* sum_groups(const ChannelSums& sums, std::size_t channel) {
  const std::size_t blocks = moment_blocks(sums.pixels, sums.channels);
  const std::size_t groups = moment_groups(sums.pixels, sums.channels);
  double* const to = all_of(sums, channel);
  add_blocks(sums, channel, blocks, blocks + groups, to);
  return to;
}

/// Thread i of pixel_threads() passes over some of a channel's pixels: out[element] =
/// make(values...), of the values of each `from` there.
template <class Make>
STERNA_DEVICE void pass_pixels(const float* from, float* out, std::size_t pixels,
                               std::size_t channels, std::size_t i, Make make) {
  const std::size_t first = i / channels * kPixelsAtOnce;
  const std::size_t start = first * channels + i % channels;
  if (first + kPixelsAtOnce <= pixels) {
    float values[kPixelsAtOnce];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) values[p] = from[start + p * channels];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) out[start + p * channels] = make(values[p]);
    return;
  }
  for (std::size_t p = 0; first + p < pixels; ++p) {
    out[start + p * channels] = make(from[start + p * channels]);
  }
}

/// The same with two.
template <class Make>
STERNA_DEVICE void pass_pixels(const float* from, const float* other, float* out,
                               std::size_t pixels, std::size_t channels, std::size_t i, Make make) {
  const std::size_t first = i / channels * kPixelsAtOnce;
  const std::size_t start = first * channels + i % channels;
  if (first + kPixelsAtOnce <= pixels) {
    float values[kPixelsAtOnce];
    float others[kPixelsAtOnce];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) {
      values[p] = from[start + p * channels];
      others[p] = other[start + p * channels];
    }
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) {
      out[start + p * channels] = make(values[p], others[p]);
    }
    return;
  }
  for (std::size_t p = 0; first + p < pixels; ++p) {
    out[start + p * channels] = make(from[start + p * channels], other[start + p * channels]);
  }
}

STERNA_DEVICE void add_bias(const BiasLaunch& launch, std::size_t i) {
  const float bias = launch.bias[i % launch.channels];
  pass_pixels(launch.y, launch.y, launch.pixels, launch.channels, i,
              [&](float y) { return y + bias; });
}

STERNA_DEVICE void channel_sum_block(const ChannelSumLaunch& launch, std::size_t i) {
  sum_block(launch.sums, i, [&](std::size_t at, double& sum, double& /*other*/) {
    sum += double{launch.from[at]};
  });
}

/// After all groups.
STERNA_DEVICE void take_channel_sum(const ChannelSumLaunch& launch, std::size_t channel) {
  launch.to[channel] = static_cast<float>(sum_groups(launch.sums, channel)[0]);
}

STERNA_DEVICE void moment_block_of(const MomentsLaunch& launch, std::size_t i) {
  sum_block(launch.sums, i, [&](std::size_t at, double& sum, double& squares) {
    const double x = launch.x[at];
    sum += x;
    squares += x * x;
  });
}

/// After all groups.
STERNA_DEVICE void take_moments(const MomentsLaunch& launch, std::size_t channel) {
  const double* const sums = sum_groups(launch.sums, channel);
  const auto pixels = static_cast<double>(launch.sums.pixels);
  const double mean = sums[0] / pixels;
  const double variance = sums[1] / pixels - mean * mean;
  launch.mean[channel] = static_cast<float>(mean);
  launch.variance[channel] = variance < 0 ? 0.0F : static_cast<float>(variance);
}

/// What a norm does to the elements of one channel.
struct NormedChannel {
  float mean;
  float inverse;  ///< of its deviation
  float scale;
  float shift;
  bool relu;

  STERNA_DEVICE float centred(float x) const { return (x - mean) * inverse; }
  STERNA_DEVICE float made(float centred) const {
    const float y = scale * centred + shift;
    return relu && !(y > 0) ? 0 : y;
  }
  /// The gradient by what the norm made before it was at least 0.
  STERNA_DEVICE float passed_back(float dy, float centred) const {
    return !relu || scale * centred + shift > 0 ? dy : 0;
  }
};

STERNA_DEVICE NormedChannel channel_of(const ChannelNorm& norm, std::size_t channel) {
  return {norm.mean[channel], 1 / std::sqrt(norm.variance[channel] + norm.epsilon),
          norm.scale == nullptr ? 1 : norm.scale[channel], norm.shift[channel], norm.relu};
}

STERNA_DEVICE void normalize_channel(const ChannelNormLaunch& launch, std::size_t i) {
  const NormedChannel channel = channel_of(launch.norm, i % launch.channels);
  pass_pixels(launch.norm.x, launch.y, launch.pixels, launch.channels, i,
              [&](float x) { return channel.made(channel.centred(x)); });
}

STERNA_DEVICE void norm_gradient_block(const ChannelNormGradientLaunch& launch, std::size_t i) {
  const NormedChannel channel = channel_of(launch.norm, i % launch.sums.channels);
  sum_block(launch.sums, i, [&](std::size_t at, double& shift, double& scale) {
    const float x = channel.centred(launch.norm.x[at]);
    const float dy = channel.passed_back(launch.dy[at], x);
    shift += double{dy};
    scale += double{dy} * double{x};
  });
}

/// After all groups. What is left of the sums are the means that each gradient by x takes off.
STERNA_DEVICE void take_norm_gradients(const ChannelNormGradientLaunch& launch,
                                       std::size_t channel) {
  double* const sums = sum_groups(launch.sums, channel);
  launch.dshift[channel] = static_cast<float>(sums[0]);
  if (launch.dscale != nullptr) launch.dscale[channel] = static_cast<float>(sums[1]);
  const auto pixels = static_cast<double>(launch.sums.pixels);
  sums[0] /= pixels;
  sums[1] /= pixels;
}

/// After all channels. Mean and variance depend on x, too.
STERNA_DEVICE void norm_gradient(const ChannelNormGradientLaunch& launch, std::size_t i) {
  const ChannelSums& sums = launch.sums;
  const NormedChannel channel = channel_of(launch.norm, i % sums.channels);
  const double* const means = all_of(sums, i % sums.channels);
  const auto shift = static_cast<float>(means[0]);
  const auto scale = static_cast<float>(means[1]);
  pass_pixels(launch.norm.x, launch.dy, launch.dx, sums.pixels, sums.channels, i,
              [&](float x, float dy) {
                const float centred = channel.centred(x);
                const float back = channel.passed_back(dy, centred);
                return channel.scale * channel.inverse * (back - shift - centred * scale);
              });
}

}  // namespace sterna::kernels
