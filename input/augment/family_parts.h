// What several families do alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "input/augment/family.h"

namespace sterna::input {

/// side x side pixels with the data's channels, or 3 where they are unknown.
inline PictureShape square_of(std::uint32_t side, const PictureShape& data) {
  return {side, side, data.channels == 0 ? 3 : data.channels};
}

/// The net sees black as -1 and white as 1.
inline void center_on_grey(const Prepared& into) {
  std::ranges::fill(into.center, 0.5F);
  std::ranges::fill(into.scale, 2.0F);
}

/// ImageNet's red, green and blue, in units of a byte; of grey, Y of the three.
inline constexpr std::array<float, 3> kChannelMeans{123.68F, 116.78F, 103.94F};
inline constexpr float kGreyMean = 117.37934F;

/// The net sees bytes less the means: (pixel / 255 - mean / 255) * 255.
inline void subtract_channel_means(const Prepared& into) {
  for (std::size_t c = 0; c < into.center.size(); ++c) {
    into.center[c] = (into.center.size() == 1 ? kGreyMean : kChannelMeans[c]) / 255.0F;
    into.scale[c] = 255.0F;
  }
}

}  // namespace sterna::input
