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

/// The two sums of channel `channel` of block `block`, or behind all blocks of all.
STERNA_DEVICE double* sums_of(const ChannelSums& sums, std::size_t block, std::size_t channel) {
  return sums.sums + 2 * (block * sums.channels + channel);
}

/// Thread i adds up a block of a channel's pixels: add(element, sums).
template <class Add>
STERNA_DEVICE void sum_block(const ChannelSums& sums, std::size_t i, Add add) {
  const std::size_t block = i / sums.channels;
  const std::size_t channel = i % sums.channels;
  const std::size_t first = block * kMomentBlock;
  const std::size_t end = first + kMomentBlock < sums.pixels ? first + kMomentBlock : sums.pixels;
  double one = 0;
  double other = 0;
  for (std::size_t pixel = first; pixel < end; ++pixel) {
    add(pixel * sums.channels + channel, one, other);
  }
  double* const to = sums_of(sums, block, channel);
  to[0] = one;
  to[1] = other;
}

/// After all blocks: adds up those of a channel.
STERNA_DEVICE const double* sum_blocks(const ChannelSums& sums, std::size_t channel) {
  const std::size_t blocks = moment_blocks(sums.pixels);
  double one = 0;
  double other = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const double* const part = sums_of(sums, block, channel);
    one += part[0];
    other += part[1];
  }
  double* const to = sums_of(sums, blocks, channel);
  to[0] = one;
  to[1] = other;
  return to;
}

STERNA_DEVICE void moment_block(const MomentsLaunch& launch, std::size_t i) {
  sum_block(launch.sums, i, [&](std::size_t at, double& sum, double& squares) {
    const double x = launch.x[at];
    sum += x;
    squares += x * x;
  });
}

/// After all blocks.
STERNA_DEVICE void take_moments(const MomentsLaunch& launch, std::size_t channel) {
  const double* const sums = sum_blocks(launch.sums, channel);
  const auto pixels = static_cast<double>(launch.sums.pixels);
  const double mean = sums[0] / pixels;
  const double variance = sums[1] / pixels - mean * mean;
  launch.mean[channel] = static_cast<float>(mean);
  launch.variance[channel] = variance < 0 ? 0.0F : static_cast<float>(variance);
}

STERNA_DEVICE float deviation_of(const ChannelNorm& norm, std::size_t channel) {
  return std::sqrt(norm.variance[channel] + norm.epsilon);
}

/// (x - mean) / deviation.
STERNA_DEVICE float centred(const ChannelNorm& norm, std::size_t at, std::size_t channel) {
  return (norm.x[at] - norm.mean[channel]) / deviation_of(norm, channel);
}

STERNA_DEVICE float normalized(const ChannelNorm& norm, float centred, std::size_t channel) {
  const float scaled = norm.scale == nullptr ? centred : norm.scale[channel] * centred;
  const float y = scaled + norm.shift[channel];
  return norm.relu && !(y > 0) ? 0 : y;
}

STERNA_DEVICE void normalize_channel(const ChannelNormLaunch& launch, std::size_t i) {
  const std::size_t channel = i % launch.channels;
  launch.y[i] = normalized(launch.norm, centred(launch.norm, i, channel), channel);
}

/// The gradient by what the norm made before it was at least 0.
STERNA_DEVICE float passed_back(const ChannelNormGradientLaunch& launch, std::size_t at,
                                float centred, std::size_t channel) {
  if (!launch.norm.relu) return launch.dy[at];
  return normalized(launch.norm, centred, channel) > 0 ? launch.dy[at] : 0;
}

STERNA_DEVICE void norm_gradient_block(const ChannelNormGradientLaunch& launch, std::size_t i) {
  const std::size_t channel = i % launch.sums.channels;
  sum_block(launch.sums, i, [&](std::size_t at, double& shift, double& scale) {
    const float x = centred(launch.norm, at, channel);
    const float dy = passed_back(launch, at, x, channel);
    shift += double{dy};
    scale += double{dy} * double{x};
  });
}

/// After all blocks.
STERNA_DEVICE void take_norm_gradients(const ChannelNormGradientLaunch& launch,
                                       std::size_t channel) {
  const double* const sums = sum_blocks(launch.sums, channel);
  launch.dshift[channel] = static_cast<float>(sums[0]);
  if (launch.dscale != nullptr) launch.dscale[channel] = static_cast<float>(sums[1]);
}

/// After all channels. Mean and variance depend on x, too.
STERNA_DEVICE void norm_gradient(const ChannelNormGradientLaunch& launch, std::size_t i) {
  const ChannelSums& sums = launch.sums;
  const std::size_t channel = i % sums.channels;
  const double* const all = sums_of(sums, moment_blocks(sums.pixels), channel);
  const auto pixels = static_cast<double>(sums.pixels);
  const float x = centred(launch.norm, i, channel);
  const float dy = passed_back(launch, i, x, channel);
  const float shift = static_cast<float>(all[0] / pixels);
  const float scale = static_cast<float>(all[1] / pixels);
  const float by_centred = (dy - shift - x * scale) / deviation_of(launch.norm, channel);
  launch.dx[i] =
      launch.norm.scale == nullptr ? by_centred : launch.norm.scale[channel] * by_centred;
}

}  // namespace sterna::kernels
