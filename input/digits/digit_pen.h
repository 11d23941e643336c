// A pen: turns strokes into a 28 x 28 picture as MNIST's were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "input/digits/digit_glyphs.h"

namespace sterna::input {

inline constexpr std::size_t kDigitSide = 28;

/// What the pen leaves, in pixels of the picture.
struct Pen {
  float box = 20;         ///< the larger side of the digit, ink included
  float radius = 1.2F;    ///< half the width of a line
  float softness = 1.2F;  ///< the width of a line's edge, from ink to paper
  float darkness = 1;     ///< the ink's value in the middle of a line, up to 1
};

/// A line's corner point, and how hard the pen was pressed there (1 is its radius).
struct Trace {
  Point at;
  float pressure = 1;
};
using Line = std::vector<Trace>;

/// A brightness in [0, 1] (clamped) as a byte, to the nearest.
std::uint8_t to_byte(float value);

/// Scales `lines` into the pen's box, draws them white on black with smooth edges, and shifts the
/// picture by whole pixels so that its centre of mass is its middle. `picture` is kDigitSide^2.
///
/// Only IEEE additions, multiplications, divisions and roots: the same bytes on every machine.
void draw(std::span<const Line> lines, const Pen& pen, std::span<std::uint8_t> picture);

}  // namespace sterna::input
