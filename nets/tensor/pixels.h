// Images as bytes, and what their bytes stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// Images of rows x columns x channels bytes, one after the other, a pixel's channels beside each
/// other; and of each image its levels: a center for each channel, then a scale for each. A byte of
/// channel c stands for (byte / 255 - center[c]) * scale[c]. Views.
struct PixelImages {
  std::span<const std::uint8_t> pixels;
  std::span<const float> levels;
};

/// What the bytes of `images`, of `channels` each, stand for: fp32, every step rounded, so that all
/// machines get the same bits. `out` holds a number for each byte; the levels are 2 * channels for
/// each of `count` > 0 images of the same size.
void to_values(const PixelImages& images, std::size_t count, std::size_t channels,
               std::span<float> out);
/// The same to the first elements of a tensor, rounded where that is of bf16.
void to_values(const PixelImages& images, std::size_t count, std::size_t channels, Tensor& out);

}  // namespace sterna::nets
