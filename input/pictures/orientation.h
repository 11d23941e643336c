// Which way up a stored picture is, and what that does to sizes, regions and pixels.
#pragma once

#include <cstdint>

#include "input/pictures/picture.h"

namespace sterna::input {

/// Where an upright picture's pixel (row, column) is stored: at (row, column), or at (column, row)
/// if `swapped`; then each is counted from the end if its flag says so.
struct Orientation {
  bool swapped = false;
  bool rows_backwards = false;     ///< of the stored picture
  bool columns_backwards = false;  ///< of the stored picture
  bool operator==(const Orientation&) const = default;
};

/// EXIF's 1 to 8: what the stored first row and first column are of the upright picture. Upright
/// for any other number.
Orientation orientation_of(std::uint32_t exif);

/// The shape of the upright picture.
PictureShape upright(const PictureShape& stored, const Orientation& orientation);

/// A box of the stored picture, as one of the upright one.
Box upright(const Box& stored, const Orientation& orientation);

/// Where a region of the upright picture is stored.
Region stored_region(const Region& region, const PictureShape& stored,
                     const Orientation& orientation);

/// The picture, turned and mirrored to be upright.
Picture upright(Picture stored, const Orientation& orientation);

}  // namespace sterna::input
