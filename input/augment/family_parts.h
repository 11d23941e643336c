// What several families do alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "input/augment/cut.h"
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

/// The net sees black as 0 and white as 1.
inline void keep_from_0_to_1(const Prepared& into) {
  std::ranges::fill(into.center, 0.0F);
  std::ranges::fill(into.scale, 1.0F);
}

/// The picture's middle at its own size.
inline Result<void> cut_middle(const EncodedPicture& picture, const FamilyOptions& options,
                               const Prepared& into) {
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  const PictureShape& shape = options.shape;
  return cut(picture,
             {central_window(from.rows, shape.rows), central_window(from.columns, shape.columns)},
             shape, options.most_pixels, into.pixels);
}

/// The data's own shape, or 28 x 28 where its pictures differ in size.
inline PictureShape own_shape(const PictureShape& data) {
  return data.rows != 0 && data.columns != 0 ? data : square_of(28, data);
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
