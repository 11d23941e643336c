// How people write the ten digits: skeletons of pen strokes, in several ways for each digit.
#pragma once

#include <array>
#include <vector>

namespace sterna::input {

/// x to the right, y down; a skeleton lives in about [0, 1] x [0, 1].
struct Point {
  float x = 0;
  float y = 0;
};

/// A smooth curve through its points (Catmull-Rom); a point given twice is a corner.
using Stroke = std::vector<Point>;
using Skeleton = std::vector<Stroke>;

/// Skeletons of one way to write a digit: equal numbers of strokes and of points in them, so that
/// any mixture of them is a skeleton too.
struct GlyphFamily {
  float weight = 1;  ///< how common this way is among those of its digit
  std::vector<Skeleton> skeletons;
};

using Alphabet = std::array<std::vector<GlyphFamily>, 10>;

/// The ways that this program knows. Our own drawing, taken from no data set.
Alphabet handwritten_digits();

}  // namespace sterna::input
