// The arithmetic of norms_launch.h, written once for nvcc and for the host's compiler: what one
// thread of a device does. Powers are those of whoever computes them; all else has the same bits
// everywhere.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/channel_sums_device.h"
#include "kernels/layers/norms_launch.h"
#include "kernels/layers/numbers_device.h"

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
  for_channels_around(norm, i, [&](std::size_t at) {
    const float x = number_at(norm.x, at);
    squares += x * x;
  });
  return norm.bias + norm.alpha * squares;
}

STERNA_DEVICE void normalize_locally(const LocalNormLaunch& launch, std::size_t i) {
  const LocalNorm& norm = launch.norm;
  put_number(launch.y, i, number_at(norm.x, i) * std::pow(local_energy(norm, i), -norm.beta));
}

/// What element i adds to the gradients around it.
STERNA_DEVICE void local_part(const LocalNormGradientLaunch& launch, std::size_t i) {
  const LocalNorm& norm = launch.norm;
  const float energy = local_energy(norm, i);
  launch.parts[i] =
      number_at(launch.dy, i) * number_at(norm.x, i) * std::pow(energy, -norm.beta) / energy;
}

/// After all parts.
STERNA_DEVICE void local_gradient(const LocalNormGradientLaunch& launch, std::size_t i) {
  const LocalNorm& norm = launch.norm;
  float sum = 0;
  for_channels_around(norm, i, [&](std::size_t at) { sum += launch.parts[at]; });
  const float own = number_at(launch.dy, i) * std::pow(local_energy(norm, i), -norm.beta);
  put_number(launch.dx, i, own - 2 * norm.alpha * norm.beta * number_at(norm.x, i) * sum);
}

/// What thread i of pixel_threads() passes over: some pixels of one channel.
struct PixelsOfThread {
  std::size_t channel;
  std::size_t first;  ///< of kPixelsAtOnce pixels, as far as there are so many

  STERNA_DEVICE PixelsOfThread(std::size_t channels, std::size_t i) {
    std::size_t run = 0;
    if (i >> 32U == 0) {  // a device divides short numbers several times as fast
      const auto wide = static_cast<std::uint32_t>(channels);
      run = static_cast<std::uint32_t>(i) / wide;
    } else {
      run = i / channels;
    }
    channel = i - run * channels;
    first = run * kPixelsAtOnce;
  }
};

/// out[element] = make(values...) there, of the value of `from`.
template <class Make>
STERNA_DEVICE void pass_pixels(const Numbers& from, const Numbers& out, std::size_t pixels,
                               std::size_t channels, const PixelsOfThread& own, Make make) {
  const std::size_t start = own.first * channels + own.channel;
  if (own.first + kPixelsAtOnce <= pixels) {
    float values[kPixelsAtOnce];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) {
      values[p] = number_at(from, start + p * channels);
    }
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) {
      put_number(out, start + p * channels, make(values[p]));
    }
    return;
  }
  for (std::size_t p = 0; own.first + p < pixels; ++p) {
    put_number(out, start + p * channels, make(number_at(from, start + p * channels)));
  }
}

/// The same of two.
template <class Make>
STERNA_DEVICE void pass_pixels(const Numbers& from, const Numbers& other, const Numbers& out,
                               std::size_t pixels, std::size_t channels, const PixelsOfThread& own,
                               Make make) {
  const std::size_t start = own.first * channels + own.channel;
  if (own.first + kPixelsAtOnce <= pixels) {
    float values[kPixelsAtOnce];
    float others[kPixelsAtOnce];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) {
      values[p] = number_at(from, start + p * channels);
      others[p] = number_at(other, start + p * channels);
    }
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixelsAtOnce; ++p) {
      put_number(out, start + p * channels, make(values[p], others[p]));
    }
    return;
  }
  for (std::size_t p = 0; own.first + p < pixels; ++p) {
    const std::size_t at = start + p * channels;
    put_number(out, at, make(number_at(from, at), number_at(other, at)));
  }
}

STERNA_DEVICE void add_bias(const BiasLaunch& launch, std::size_t i) {
  const PixelsOfThread own(launch.channels, i);
  const float bias = launch.bias[own.channel];
  pass_pixels(launch.y, launch.y, launch.pixels, launch.channels, own,
              [&](float y) { return y + bias; });
}

// What a tile's thread has of each launch that sums, and what is made of a channel's sums.

STERNA_DEVICE TwoSums sum_of_thread(const ChannelSumLaunch& launch, const Tile& tile,
                                    std::uint32_t thread) {
  return sum_of_block(
      launch.sums, tile, thread, [&](std::size_t at) { return number_at(launch.from, at); },
      [](float value, TwoSums& sums) { sums.one += double{value}; });
}

STERNA_DEVICE void take_sums(const ChannelSumLaunch& launch, std::size_t channel,
                             const TwoSums& sums) {
  launch.to[channel] = static_cast<float>(sums.one);
}

STERNA_DEVICE TwoSums sum_of_thread(const MomentsLaunch& launch, const Tile& tile,
                                    std::uint32_t thread) {
  return sum_of_block(
      launch.sums, tile, thread, [&](std::size_t at) { return number_at(launch.x, at); },
      [](float value, TwoSums& sums) {
        const double x = value;
        sums.one += x;
        sums.other += x * x;
      });
}

STERNA_DEVICE void take_sums(const MomentsLaunch& launch, std::size_t channel,
                             const TwoSums& sums) {
  const auto pixels = static_cast<double>(launch.sums.pixels);
  const double mean = sums.one / pixels;
  const double variance = sums.other / pixels - mean * mean;
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
  const PixelsOfThread own(launch.channels, i);
  const NormedChannel channel = channel_of(launch.norm, own.channel);
  pass_pixels(launch.norm.x, launch.y, launch.pixels, launch.channels, own,
              [&](float x) { return channel.made(channel.centred(x)); });
}

STERNA_DEVICE TwoSums sum_of_thread(const ChannelNormGradientLaunch& launch, const Tile& tile,
                                    std::uint32_t thread) {
  struct Element {
    float x, dy;
  };
  const std::uint32_t column = thread % tile.shape.channels;
  if (column >= tile.channels) return {0, 0};
  const NormedChannel channel = channel_of(launch.norm, tile.first_channel + column);
  return sum_of_block(
      launch.sums, tile, thread,
      [&](std::size_t at) {
        return Element{number_at(launch.norm.x, at), number_at(launch.dy, at)};
      },
      [&](const Element& element, TwoSums& sums) {
        const float x = channel.centred(element.x);
        const float dy = channel.passed_back(element.dy, x);
        sums.one += double{dy};
        sums.other += double{dy} * double{x};
      });
}

/// What stays are the means that each gradient by x takes off.
STERNA_DEVICE void take_sums(const ChannelNormGradientLaunch& launch, std::size_t channel,
                             const TwoSums& sums) {
  launch.dshift[channel] = static_cast<float>(sums.one);
  if (launch.dscale != nullptr) launch.dscale[channel] = static_cast<float>(sums.other);
  const auto pixels = static_cast<double>(launch.sums.pixels);
  *sums_of_channel(launch.sums, channel) = {sums.one / pixels, sums.other / pixels};
}

/// After all channels. Mean and variance depend on x, too.
STERNA_DEVICE void norm_gradient(const ChannelNormGradientLaunch& launch, std::size_t i) {
  const ChannelSums& sums = launch.sums;
  const PixelsOfThread own(sums.channels, i);
  const NormedChannel channel = channel_of(launch.norm, own.channel);
  const TwoSums means = *sums_of_channel(sums, own.channel);
  const auto shift = static_cast<float>(means.one);
  const auto scale = static_cast<float>(means.other);
  pass_pixels(launch.norm.x, launch.dy, launch.dx, sums.pixels, sums.channels, own,
              [&](float x, float dy) {
                const float centred = channel.centred(x);
                const float back = channel.passed_back(dy, centred);
                return channel.scale * channel.inverse * (back - shift - centred * scale);
              });
}

}  // namespace sterna::kernels
