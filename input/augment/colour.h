// Brightness, saturation, hue and contrast of a picture, changed as TF1's image_ops do.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace sterna::input {

/// By how much, where pixels are 0 to 1.
struct ColourChange {
  float brightness = 0;  ///< added
  float saturation = 1;  ///< times HSV's, which then is at most 1
  float hue = 0;         ///< added, in turns: -0.5 ... 0.5
  float contrast = 1;    ///< times the distance from the channel's mean over the picture
  /// Brightness is first; hue follows saturation. Contrast comes before these two, or is last.
  bool contrast_last = true;
};

/// Changes a picture of 3 channels, or of 1, which has neither saturation nor hue. In fp32 without
/// FMA, means in double in a fixed order: the same bits on every instruction set. Only what results
/// is clamped to 0 ... 1, and rounded to bytes (at most 1 / 510 off). Where brightness leaves all
/// channels of a pixel at most 0, it becomes as grey as the largest of them.
void change_colours(std::span<std::uint8_t> pixels, std::uint32_t channels,
                    const ColourChange& change, kernels::Isa isa = kernels::best_isa());

}  // namespace sterna::input
