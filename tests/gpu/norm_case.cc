#include "norm_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/kernels/gradients.h"
#include "there.h"

namespace sterna::kernels {
namespace {

using Doubles = std::vector<double>;

/// In the norm, to within 1e-5 of what is expected.
Result<void> near(const Floats& found, const Doubles& expected, const std::string& of) {
  double off = 0;
  double all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    off += std::pow(double{found[i]} - expected[i], 2);
    all += std::pow(expected[i], 2);
  }
  if (off <= 1e-10 * all) return {};  // and no NaN
  return Error{Errc::internal, fmt::format("{}: the norm is {}, and what is off {}", of,
                                           std::sqrt(all), std::sqrt(off))};
}

/// One pixel's channels after the other's.
struct Local {
  std::size_t pixels, channels, radius;
  float bias, alpha, beta;
  Doubles energies(const Floats& x) const {
    Doubles found;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (std::size_t at = 0; at < channels; ++at) {
        const std::size_t own = i % channels;
        if (at + radius < own || at > own + radius) continue;
        sum += std::pow(double{x[i - own + at]}, 2);
      }
      found.push_back(double{bias} + double{alpha} * sum);
    }
    return found;
  }
};

Result<void> normalizes_locally(There& there, const Local& what) {
  const std::size_t count = what.pixels * what.channels;
  const Floats x = gaussian(count, 1, 21), dy = gaussian(count, 1, 22);
  STERNA_ASSIGN(const auto x_there, there.bring(x));
  STERNA_ASSIGN(const auto dy_there, there.bring(dy));
  STERNA_ASSIGN(const auto y, there.bring(Floats(count, 7)));
  STERNA_ASSIGN(const auto parts, there.bring(Floats(count, 7)));
  STERNA_ASSIGN(const auto dx, there.bring(Floats(count, 7)));
  const LocalNorm norm{x_there.data(), count,      what.channels, what.radius,
                       what.bias,      what.alpha, what.beta};
  STERNA_TRY(there.run(LocalNormLaunch{norm, y.data()}));
  STERNA_TRY(there.run(LocalNormGradientLaunch{norm, dy_there.data(), parts.data(), dx.data()}));
  const Doubles energy = what.energies(x);
  Doubles expected(count), expected_dx(count);
  const double alpha = what.alpha;
  const double beta = what.beta;
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = double{x[i]} * std::pow(energy[i], -beta);
    expected_dx[i] += double{dy[i]} * std::pow(energy[i], -beta);
    const std::size_t own = i % what.channels;
    for (std::size_t at = 0; at < what.channels; ++at) {  // whose output x[i] is in
      if (at + what.radius < own || at > own + what.radius) continue;
      const std::size_t j = i - own + at;
      expected_dx[i] -= 2 * alpha * beta * double{dy[j]} * double{x[j]} * double{x[i]} *
                        std::pow(energy[j], -beta - 1);
    }
  }
  STERNA_ASSIGN(const Floats found, there.fetch(y));
  STERNA_TRY(near(found, expected, "a local normalization"));
  STERNA_ASSIGN(const Floats found_dx, there.fetch(dx));
  return near(found_dx, expected_dx, "a local normalization's gradient");
}

/// What batch normalization and its gradients are of a batch's channels.
struct NormedBatch {
  Doubles mean, variance, y, dx, dscale, dshift;
};

struct Channels {
  std::size_t pixels, channels;
  bool scales, relu;
  Floats x, dy, scale, shift;
  static constexpr float kEpsilon = 0.01F;

  NormedBatch expected() const {
    const auto n = static_cast<double>(pixels);
    NormedBatch found{Doubles(channels),          Doubles(channels), Doubles(pixels * channels),
                      Doubles(pixels * channels), Doubles(channels), Doubles(channels)};
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = c; i < x.size(); i += channels) found.mean[c] += double{x[i]} / n;
      for (std::size_t i = c; i < x.size(); i += channels) {
        found.variance[c] += std::pow(double{x[i]} - found.mean[c], 2) / n;
      }
      const double deviation = std::sqrt(found.variance[c] + double{kEpsilon});
      const double factor = scales ? double{scale[c]} : 1;
      const auto centred = [&](std::size_t i) {
        return (double{x[i]} - found.mean[c]) / deviation;
      };
      const auto made = [&](std::size_t i) { return factor * centred(i) + double{shift[c]}; };
      const auto back = [&](std::size_t i) { return relu && made(i) <= 0 ? 0 : double{dy[i]}; };
      for (std::size_t i = c; i < x.size(); i += channels) {
        found.y[i] = relu ? std::max(made(i), 0.0) : made(i);
        found.dshift[c] += back(i);
        found.dscale[c] += back(i) * centred(i);
      }
      for (std::size_t i = c; i < x.size(); i += channels) {
        const double mean = found.dshift[c] / n + centred(i) * found.dscale[c] / n;
        found.dx[i] = factor / deviation * (back(i) - mean);
      }
    }
    return found;
  }
};

Result<void> normalizes_channels(There& there, std::size_t pixels, std::size_t channels,
                                 bool scales, bool relu) {
  const std::size_t count = pixels * channels;
  Channels what{pixels,
                channels,
                scales,
                relu,
                gaussian(count, 1, 23),
                gaussian(count, 1, 24),
                gaussian(channels, 1, 25),
                gaussian(channels, 1, 26)};
  for (float& value : what.x) value += 2;
  STERNA_ASSIGN(const auto x, there.bring(what.x));
  STERNA_ASSIGN(const auto dy, there.bring(what.dy));
  STERNA_ASSIGN(const auto scale, there.bring(what.scale));
  STERNA_ASSIGN(const auto shift, there.bring(what.shift));
  STERNA_ASSIGN(const auto mean, there.bring(Floats(channels)));
  STERNA_ASSIGN(const auto variance, there.bring(Floats(channels)));
  STERNA_ASSIGN(const auto y, there.bring(Floats(count, 7)));
  STERNA_ASSIGN(const auto dscale, there.bring(Floats(channels, 7)));
  STERNA_ASSIGN(const auto dshift, there.bring(Floats(channels, 7)));
  STERNA_ASSIGN(const auto room, there.bring(std::vector<TwoSums>(channel_sums(pixels, channels))));
  const ChannelSums sums{pixels, channels, room.data()};
  const ChannelNorm norm{x.data(),
                         scales ? scale.data() : nullptr,
                         shift.data(),
                         mean.data(),
                         variance.data(),
                         Channels::kEpsilon,
                         relu};
  STERNA_TRY(there.run(MomentsLaunch{sums, x.data(), mean.data(), variance.data()}));
  STERNA_TRY(there.run(ChannelNormLaunch{norm, y.data(), pixels, channels}));
  STERNA_TRY(there.run(ChannelNormGradientLaunch{norm, sums, dy.data(), dy.data(),
                                                 scales ? dscale.data() : nullptr, dshift.data()}));
  const NormedBatch expected = what.expected();
  const auto holds = [&](const DeviceArray<float>& found, const Doubles& of,
                         const char* name) -> Result<void> {
    STERNA_ASSIGN(const Floats here, there.fetch(found));
    return near(here, of, fmt::format("{} of {} pixels", name, pixels));
  };
  STERNA_TRY(holds(mean, expected.mean, "a mean"));
  STERNA_TRY(holds(variance, expected.variance, "a variance"));
  STERNA_TRY(holds(y, expected.y, "a batch normalization"));
  STERNA_TRY(holds(dshift, expected.dshift, "the gradient by a shift"));
  if (scales) STERNA_TRY(holds(dscale, expected.dscale, "the gradient by a scale"));
  return holds(dy, expected.dx, "a batch normalization's gradient");  // it lies there
}

/// A bias for each channel, and the gradient by it.
Result<void> adds_biases(There& there, std::size_t pixels, std::size_t channels) {
  const std::size_t count = pixels * channels;
  const Floats y = gaussian(count, 1, 27), bias = gaussian(channels, 1, 28);
  STERNA_ASSIGN(const auto y_there, there.bring(y));
  STERNA_ASSIGN(const auto bias_there, there.bring(bias));
  STERNA_ASSIGN(const auto room, there.bring(std::vector<TwoSums>(channel_sums(pixels, channels))));
  STERNA_ASSIGN(const auto sums, there.bring(Floats(channels, 7)));
  STERNA_TRY(
      there.run(ChannelSumLaunch{{pixels, channels, room.data()}, y_there.data(), sums.data()}));
  STERNA_TRY(there.run(BiasLaunch{bias_there.data(), y_there.data(), pixels, channels}));
  Doubles expected(count), expected_sums(channels);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = double{y[i]} + double{bias[i % channels]};
    expected_sums[i % channels] += double{y[i]};
  }
  STERNA_ASSIGN(const Floats found, there.fetch(y_there));
  STERNA_TRY(near(found, expected, "a bias"));
  STERNA_ASSIGN(const Floats found_sums, there.fetch(sums));
  return near(found_sums, expected_sums, "the gradient by a bias");
}

}  // namespace

Result<void> normalizes_as_defined(Device& device) {
  STERNA_ASSIGN(There there, There::make(device));
  STERNA_TRY(normalizes_locally(there, {7, 64, 4, 1, 0.3F, 0.75F}));
  STERNA_TRY(normalizes_locally(there, {40, 3, 2, 2, 0.5F, 0.5F}));
  STERNA_TRY(normalizes_locally(there, {5, 1, 3, 1, 0.5F, 1}));
  STERNA_TRY(adds_biases(there, 50, 19));
  STERNA_TRY(adds_biases(there, 16 * 32 + 3, 64));
  STERNA_TRY(adds_biases(there, 16 * 8 * 40 + 5, 130));  // a last tile of two channels
  STERNA_TRY(adds_biases(there, 16 * 8 * 300 + 5, 32));  // more tiles than a block adds up at once
  for (const bool scales : {false, true}) {
    for (const bool relu : {false, true}) {
      STERNA_TRY(normalizes_channels(there, 50, 19, scales, relu));
      STERNA_TRY(normalizes_channels(there, 256, 1, scales, relu));
      STERNA_TRY(normalizes_channels(there, 16 * 64 + 7, 33, scales, relu));
      STERNA_TRY(normalizes_channels(there, 16 * 8 * 3 + 1, 160, scales, relu));
    }
  }
  return {};
}

}  // namespace sterna::kernels
