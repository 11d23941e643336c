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

/// What thread i of pixel_threads() passes over: some pixels of kWide channels.
template <std::uint32_t kWide>
struct PixelsOfThread {
  static constexpr std::size_t kPixels = pixels_at_once(kWide);
  std::size_t channel;  ///< the first
  std::size_t first;    ///< of kPixels pixels, as far as there are so many

  STERNA_DEVICE PixelsOfThread(std::size_t channels, std::size_t i) {
    const std::size_t across = channels / kWide;
    std::size_t run = 0;
    if (i >> 32U == 0) {  // a device divides short numbers several times as fast
      run = static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(across);
    } else {
      run = i / across;
    }
    channel = (i - run * across) * kWide;
    first = run * kPixels;
  }
};

/// out = make(channel of kWide, value) of the values of `from`.
template <std::uint32_t kWide, class Make>
STERNA_DEVICE void pass_pixels(const Numbers& from, const Numbers& out, std::size_t pixels,
                               std::size_t channels, const PixelsOfThread<kWide>& own, Make make) {
  constexpr std::size_t kPixels = PixelsOfThread<kWide>::kPixels;
  const std::size_t start = own.first * channels + own.channel;
  const auto put = [&](std::size_t p, float(&values)[kWide]) {
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kWide; ++c) values[c] = make(c, values[c]);
    put_numbers<kWide>(out, start + p * channels, values);
  };
  if (own.first + kPixels <= pixels) {
    float values[kPixels][kWide];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixels; ++p) {
      read_numbers<kWide>(from, start + p * channels, values[p]);
    }
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixels; ++p) put(p, values[p]);
    return;
  }
  for (std::size_t p = 0; own.first + p < pixels; ++p) {
    float values[kWide];
    read_numbers<kWide>(from, start + p * channels, values);
    put(p, values);
  }
}

/// The same of two.
template <std::uint32_t kWide, class Make>
STERNA_DEVICE void pass_pixels(const Numbers& from, const Numbers& other, const Numbers& out,
                               std::size_t pixels, std::size_t channels,
                               const PixelsOfThread<kWide>& own, Make make) {
  constexpr std::size_t kPixels = PixelsOfThread<kWide>::kPixels;
  const std::size_t start = own.first * channels + own.channel;
  const auto put = [&](std::size_t p, float(&values)[kWide], const float(&others)[kWide]) {
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kWide; ++c) values[c] = make(c, values[c], others[c]);
    put_numbers<kWide>(out, start + p * channels, values);
  };
  if (own.first + kPixels <= pixels) {
    float values[kPixels][kWide];
    float others[kPixels][kWide];
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixels; ++p) {
      read_numbers<kWide>(from, start + p * channels, values[p]);
      read_numbers<kWide>(other, start + p * channels, others[p]);
    }
    STERNA_UNROLL
    for (std::size_t p = 0; p < kPixels; ++p) put(p, values[p], others[p]);
    return;
  }
  for (std::size_t p = 0; own.first + p < pixels; ++p) {
    float values[kWide];
    float others[kWide];
    read_numbers<kWide>(from, start + p * channels, values);
    read_numbers<kWide>(other, start + p * channels, others);
    put(p, values, others);
  }
}

template <std::uint32_t kWide = 1>
STERNA_DEVICE void add_bias(const BiasLaunch& launch, std::size_t i) {
  const PixelsOfThread<kWide> own(launch.channels, i);
  float bias[kWide];
  STERNA_UNROLL
  for (std::uint32_t c = 0; c < kWide; ++c) bias[c] = launch.bias[own.channel + c];
  pass_pixels(launch.y, launch.y, launch.pixels, launch.channels, own,
              [&](std::uint32_t c, float y) { return y + bias[c]; });
}

// What a thread has of each launch that sums, in a block of pixels of kWide channels, and what is
// made of a channel's sums.

template <std::uint32_t kWide>
STERNA_DEVICE void sum_block_of(const ChannelSumLaunch& launch, std::size_t block,
                                std::size_t channel, TwoSums (&sums)[kWide]) {
  struct Element {
    float x[kWide];
  };
  sum_of_block(
      launch.sums, block, channel, sums,
      [&](std::size_t at) {
        Element element;
        read_numbers<kWide>(launch.from, at, element.x);
        return element;
      },
      [](const Element& element, std::uint32_t c, TwoSums& of_channel) {
        of_channel.one += double{element.x[c]};
      });
}

STERNA_DEVICE void take_sums(const ChannelSumLaunch& launch, std::size_t channel,
                             const TwoSums& sums) {
  launch.to[channel] = static_cast<float>(sums.one);
}

template <std::uint32_t kWide>
STERNA_DEVICE void sum_block_of(const MomentsLaunch& launch, std::size_t block, std::size_t channel,
                                TwoSums (&sums)[kWide]) {
  struct Element {
    float x[kWide];
  };
  sum_of_block(
      launch.sums, block, channel, sums,
      [&](std::size_t at) {
        Element element;
        read_numbers<kWide>(launch.x, at, element.x);
        return element;
      },
      [](const Element& element, std::uint32_t c, TwoSums& of_channel) {
        const double x = element.x[c];
        of_channel.one += x;
        of_channel.other += x * x;
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
    return relu && y <= 0 ? 0 : y;
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

template <std::uint32_t kWide = 1>
STERNA_DEVICE void normalize_channel(const ChannelNormLaunch& launch, std::size_t i) {
  const PixelsOfThread<kWide> own(launch.channels, i);
  NormedChannel channels[kWide];
  STERNA_UNROLL
  for (std::uint32_t c = 0; c < kWide; ++c) channels[c] = channel_of(launch.norm, own.channel + c);
  pass_pixels(launch.norm.x, launch.y, launch.pixels, launch.channels, own,
              [&](std::uint32_t c, float x) { return channels[c].made(channels[c].centred(x)); });
}

template <std::uint32_t kWide>
STERNA_DEVICE void sum_block_of(const ChannelNormGradientLaunch& launch, std::size_t block,
                                std::size_t channel, TwoSums (&sums)[kWide]) {
  struct Element {
    float x[kWide];
    float dy[kWide];
  };
  NormedChannel channels[kWide];
  STERNA_UNROLL
  for (std::uint32_t c = 0; c < kWide; ++c) channels[c] = channel_of(launch.norm, channel + c);
  sum_of_block(
      launch.sums, block, channel, sums,
      [&](std::size_t at) {
        Element element;
        read_numbers<kWide>(launch.norm.x, at, element.x);
        read_numbers<kWide>(launch.dy, at, element.dy);
        return element;
      },
      [&](const Element& element, std::uint32_t c, TwoSums& of_channel) {
        const float x = channels[c].centred(element.x[c]);
        const float dy = channels[c].passed_back(element.dy[c], x);
        of_channel.one += double{dy};
        of_channel.other += double{dy} * double{x};
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
template <std::uint32_t kWide = 1>
STERNA_DEVICE void norm_gradient(const ChannelNormGradientLaunch& launch, std::size_t i) {
  const ChannelSums& sums = launch.sums;
  const PixelsOfThread<kWide> own(sums.channels, i);
  NormedChannel channels[kWide];
  float shift[kWide];
  float scale[kWide];
  STERNA_UNROLL
  for (std::uint32_t c = 0; c < kWide; ++c) {
    channels[c] = channel_of(launch.norm, own.channel + c);
    const TwoSums means = *sums_of_channel(sums, own.channel + c);
    shift[c] = static_cast<float>(means.one);
    scale[c] = static_cast<float>(means.other);
  }
  pass_pixels(launch.norm.x, launch.dy, launch.dx, sums.pixels, sums.channels, own,
              [&](std::uint32_t c, float x, float dy) {
                const NormedChannel& channel = channels[c];
                const float centred = channel.centred(x);
                const float back = channel.passed_back(dy, centred);
                return channel.scale * channel.inverse * (back - shift[c] - centred * scale[c]);
              });
}

}  // namespace sterna::kernels
