#include "input/pictures/orientation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sterna::input {

Orientation orientation_of(std::uint32_t exif) {
  constexpr std::array<Orientation, 8> kOrientations{{
      {false, false, false},
      {false, false, true},
      {false, true, true},
      {false, true, false},
      {true, false, false},
      {true, true, false},
      {true, true, true},
      {true, false, true},
  }};
  return exif >= 1 && exif <= kOrientations.size() ? kOrientations[exif - 1] : Orientation{};
}

PictureShape upright(const PictureShape& stored, const Orientation& orientation) {
  PictureShape shape = stored;
  if (orientation.swapped) std::swap(shape.rows, shape.columns);
  return shape;
}

Box upright(const Box& stored, const Orientation& orientation) {
  Box box = stored;
  if (orientation.rows_backwards) {
    box.top = 1 - stored.bottom;
    box.bottom = 1 - stored.top;
  }
  if (orientation.columns_backwards) {
    box.left = 1 - stored.right;
    box.right = 1 - stored.left;
  }
  if (orientation.swapped) {
    std::swap(box.top, box.left);
    std::swap(box.bottom, box.right);
  }
  return box;
}

Region stored_region(const Region& region, const PictureShape& stored,
                     const Orientation& orientation) {
  Region there = region;
  if (orientation.swapped) {
    std::swap(there.top, there.left);
    std::swap(there.rows, there.columns);
  }
  if (orientation.rows_backwards) there.top = stored.rows - there.top - there.rows;
  if (orientation.columns_backwards) there.left = stored.columns - there.left - there.columns;
  return there;
}

Picture upright(Picture stored, const Orientation& orientation) {
  if (orientation == Orientation{}) return stored;
  const std::size_t channels = stored.shape.channels;
  const std::size_t stored_row = stored.shape.columns * channels;
  Picture picture{upright(stored.shape, orientation), {}};
  picture.pixels.resize(picture.shape.bytes());
  std::uint8_t* to = picture.pixels.data();
  for (std::uint32_t row = 0; row < picture.shape.rows; ++row) {
    for (std::uint32_t column = 0; column < picture.shape.columns; ++column) {
      std::size_t r = orientation.swapped ? column : row;
      std::size_t c = orientation.swapped ? row : column;
      if (orientation.rows_backwards) r = stored.shape.rows - 1 - r;
      if (orientation.columns_backwards) c = stored.shape.columns - 1 - c;
      to = std::copy_n(stored.pixels.data() + r * stored_row + c * channels, channels, to);
    }
  }
  return picture;
}

}  // namespace sterna::input
