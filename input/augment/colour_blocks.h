// What changing colours does to a block of pixels, per instruction set; the same source, which
// compilers turn into vectors. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "input/augment/lanes.h"

namespace sterna::input {

inline constexpr std::size_t kColourBlock = 256;  ///< pixels

/// Red, green and blue of a block, apart.
struct ColourBlock {
  alignas(64) float planes[3][kColourBlock];
};

/// x becomes x * scale + shift, one pair a channel.
struct Affine {
  float scale[3];
  float shift[3];
};

/// What an instruction set has for it. A block is always worked on whole.
struct ColourKernels {
  /// pixel / 255 * scale + shift.
  void (*load)(const std::uint8_t* pixels, const Affine& affine, ColourBlock& block);
  /// Saturation and hue at once: V - range * min(saturation, V / range) * (1 - k(hue)), as neither
  /// changes HSV's V, and saturation not the hue. `turn` is in sixths.
  void (*turn)(float saturation, float turn, ColourBlock& block);
  /// x * scale + shift, clamped and rounded to bytes.
  void (*store)(const ColourBlock& block, const Affine& affine, std::uint8_t* pixels);
};
extern const ColourKernels kColourKernels;
extern const ColourKernels kColourKernelsAvx2;

STERNA_LANES_INLINE void load_block(const std::uint8_t* __restrict pixels, const Affine& affine,
                                    ColourBlock& __restrict block) {
  for (std::size_t c = 0; c < 3; ++c) {
    const float scale = affine.scale[c] / 255.0F;
    const float shift = affine.shift[c];
    for (std::size_t i = 0; i < kColourBlock; ++i) {
      block.planes[c][i] = static_cast<float>(pixels[3 * i + c]) * scale + shift;
    }
  }
}

STERNA_LANES_INLINE void turn_block(float saturation, float turn, ColourBlock& __restrict block) {
  for (std::size_t i = 0; i < kColourBlock; ++i) {
    const float r = block.planes[0][i];
    const float g = block.planes[1][i];
    const float b = block.planes[2][i];
    const float larger = r > g ? r : g;
    const float value = larger > b ? larger : b;
    const float smaller = r < g ? r : g;
    const float least = smaller < b ? smaller : b;
    const float range = value - least;
    const float divisor = range > 0.0F ? range : 1.0F;
    // How far from the corner of the hexagon that the largest channel is, and which corner.
    const float from_green = value == g ? b - r : r - g;
    const float green_corner = value == g ? 2.0F : 4.0F;
    const float distance = value == r ? g - b : from_green;
    const float corner = value == r ? 0.0F : green_corner;
    const float turned = corner + distance / divisor + turn;
    const float above = turned < 0.0F ? turned + 6.0F : turned;
    const float hue = above >= 6.0F ? above - 6.0F : above;
    const float most = value / divisor;
    const float factor = most < saturation ? most : saturation;
    const float reach = range * (value > 0.0F ? factor : 0.0F);
    const float red = clamped(__builtin_fabsf(hue - 3.0F) - 1.0F, 1.0F);
    const float green = clamped(2.0F - __builtin_fabsf(hue - 2.0F), 1.0F);
    const float blue = clamped(2.0F - __builtin_fabsf(hue - 4.0F), 1.0F);
    block.planes[0][i] = value - reach * (1.0F - red);
    block.planes[1][i] = value - reach * (1.0F - green);
    block.planes[2][i] = value - reach * (1.0F - blue);
  }
}

STERNA_LANES_INLINE void store_block(const ColourBlock& __restrict block, const Affine& affine,
                                     std::uint8_t* __restrict pixels) {
  std::uint8_t bytes[3][kColourBlock];
  for (std::size_t c = 0; c < 3; ++c) {
    const float scale = affine.scale[c];
    const float shift = affine.shift[c];
    for (std::size_t i = 0; i < kColourBlock; ++i) {
      bytes[c][i] = nearest_byte((block.planes[c][i] * scale + shift) * 255.0F);
    }
  }
  for (std::size_t i = 0; i < kColourBlock; ++i) {
    for (std::size_t c = 0; c < 3; ++c) pixels[3 * i + c] = bytes[c][i];
  }
}

}  // namespace sterna::input
