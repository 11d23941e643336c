// From a stored picture to rows of bytes: whole or a part of it, in full size or shrunk.
//
// Whatever the coding, a picture is trusted with nothing: its header is read first, and one of more
// pixels than the caller allows is refused before memory is taken for it. Errors are one line
// without the picture's name, which the caller puts before it. Pure functions: any thread may call
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Pictures above 64 Mi pixels are refused where the caller names no other bound.
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 26;

/// Pictures with a longer side are refused whatever the bound: a PNG of 65 KB may be a strip of 64
/// Mi pixels, and to resize it takes a minute and a gigabyte. JPEG's own limit is 65,500.
constexpr std::uint32_t kMostSide = 1U << 16;

struct DecodeOptions {
  /// 1: grey, as Y = 0.299 R + 0.587 G + 0.114 B of a picture in colour. 3: red, green and blue.
  std::uint32_t channels = 3;
  /// 1, 2, 4 or 8: by how much a picture that can_shrink is scaled down while it is decoded. Sizes
  /// round up.
  std::uint32_t shrink = 1;
  /// What is wanted of the shrunken, upright picture; none: all. The pixels are those that the
  /// whole has there, bit for bit.
  std::optional<Region> region = std::nullopt;
  std::uint64_t most_pixels = kMostPixels;  ///< of the picture as it is stored
};

/// What these bytes are, by how they begin, whatever their name says. Errors: `malformed` for what
/// is neither a JPEG nor a PNG.
Result<Coding> coding_of(std::span<const std::uint8_t> bytes);

/// Whether DecodeOptions::shrink may be other than 1: for JPEG, whose transform yields the smaller
/// picture at once.
bool can_shrink(Coding coding);

/// The size of a picture of this size when it is decoded with this `shrink`.
PictureShape shrunken(const PictureShape& shape, std::uint32_t shrink);

/// The shape of the upright picture, from its header alone; 1 channel for a grey one, else 3.
/// Errors: `malformed` for what has no such header, for more than `most_pixels` pixels, and for a
/// side above kMostSide.
Result<PictureShape> shape_of(const EncodedPicture& picture, std::uint64_t most_pixels);

/// Boxes of the picture as its bytes have it, which is what programs see that know no EXIF, as
/// boxes of the upright picture. As they are where its header cannot be read.
std::vector<Box> upright(std::vector<Box> boxes, const EncodedPicture& picture);

/// Decodes a picture, upright: a JPEG as its EXIF orientation says, all others as they are stored.
/// Errors: `malformed` for a damaged, cut short or unsupported picture, or one above most_pixels;
/// `invalid_argument` for options that it cannot be decoded with.
Result<Picture> decode(const EncodedPicture& picture, const DecodeOptions& options);

}  // namespace sterna::input
