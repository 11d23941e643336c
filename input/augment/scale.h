// A part of a stored picture at another size: no more is decoded than that takes.
#pragma once

#include <cstdint>
#include <span>

#include "input/augment/taps.h"
#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// `part` of a picture becomes rows x columns pixels, of which `window` is wanted.
struct Scaling {
  Region part{};
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  Region window{};
  Filter filter = Filter::bilinear;
  bool flip = false;  ///< left and right of the window change places
};

/// All of a picture at rows x columns, neither below the shape's: the shape in its middle.
Scaling whole_scaled(const PictureShape& from, std::uint32_t rows, std::uint32_t columns,
                     const PictureShape& shape);
/// The same at this shorter side, or what `shape` takes where that is more; the longer side keeps
/// the aspect, rounded (half: up).
Scaling whole_scaled_to_side(const PictureShape& from, std::uint32_t side,
                             const PictureShape& shape);

/// By how much a picture of this coding shrinks while it is decoded: the largest that still leaves
/// at least the new size in both directions. A function of sizes alone.
std::uint32_t shrink_for(Coding coding, const Scaling& scaling);

/// Writes the window to `pixels`, with so many channels. `from` is the picture's shape_of(). Where
/// the picture shrinks, the part's borders move outwards to whole pixels of the shrunken picture.
/// Errors: decoding's.
Result<void> scale(const EncodedPicture& picture, const PictureShape& from, const Scaling& scaling,
                   std::uint32_t channels, std::uint64_t most_pixels,
                   std::span<std::uint8_t> pixels);

}  // namespace sterna::input
