// The pictures of a batch on one sheet, as a net sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "input/batches/prepare.h"
#include "input/pictures/picture.h"

namespace sterna::launcher {

/// Pictures on a sheet, across and down.
constexpr std::size_t kSheetSide = 8;

/// The side of the square that holds a picture of this shape, and the sheet's: small pictures are
/// magnified by a whole number, each pixel to a square.
std::uint32_t sheet_zoom(const input::PictureShape& shape);
input::PictureShape sheet_shape(const input::PictureShape& shape);

/// Up to 64 prepared pictures of `shape`, row after row, on grey, each above its label. What a net
/// reads of a picture's pixels is spread from its least (black) to its most (white).
input::Picture contact_sheet(const input::PreparedRows& rows, const input::PictureShape& shape);

}  // namespace sterna::launcher
