// PNG by libpng: every bit depth and colour type, interlaced or not. 16 bits a channel are rounded
// to 8. Transparency is dropped, as most trainers do: a pixel has the colour that is stored,
// however little of it would be seen. Gamma and profiles are not applied. A wrong checksum is
// `malformed`.
//
// Errors and arguments as in decode.h, whose functions call these for Coding::png.
#pragma once

#include "input/pictures/decode.h"

namespace sterna::input {

Result<PictureShape> png_shape(std::span<const std::uint8_t> bytes, std::uint64_t most_pixels);

Result<Picture> decode_png(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

}  // namespace sterna::input
