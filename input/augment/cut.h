// A part of a stored picture at its own size, copied to where the net will read it.
#pragma once

#include <cstdint>
#include <span>

#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Where along one axis a window of `to` pixels takes from a picture of `from`: the part that both
/// have. A picture that is smaller is padded evenly with zeros, one more behind than before.
struct Segment {
  std::uint32_t source = 0;  ///< the first pixel of the picture that is taken
  std::uint32_t target = 0;  ///< where it goes
  std::uint32_t count = 0;
};

/// How many places a window of `to` pixels has in a picture of `from`; 1 for one that is smaller.
std::uint32_t places(std::uint32_t from, std::uint32_t to);
/// The window at place `first` < places(from, to).
Segment window(std::uint32_t from, std::uint32_t to, std::uint32_t first);
/// The window in the middle, the earlier one of two (TF1's resize_image_with_crop_or_pad).
Segment central_window(std::uint32_t from, std::uint32_t to);

/// What `cut` takes: of rows and of columns, and whether left and right change places.
struct Cut {
  Segment rows;
  Segment columns;
  bool flip = false;
};

/// Copies the window to `pixels`, which is of `shape`. Pictures that are stored decoded and have
/// the shape's channels are copied as they are: nothing is allocated. Errors: decoding's.
Result<void> cut(const EncodedPicture& picture, const Cut& cut, const PictureShape& shape,
                 std::uint64_t most_pixels, std::span<std::uint8_t> pixels);

}  // namespace sterna::input
