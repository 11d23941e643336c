// JPEG by libjpeg-turbo: baseline and progressive, Huffman and arithmetic, 8 bits a sample; grey,
// YCbCr, RGB, CMYK and YCCK. Lossless and 12-bit JPEGs are `malformed`: the library has neither.
//
// A picture whose data ends before all its pixels are told is `malformed` as well. Where every
// pixel of a baseline JPEG is there and only the marker at its end is missing, it decodes. Of a
// region only what stands before its last row is read: a cut below it goes unseen.
//
// Errors and arguments as in decode.h, whose functions call these for Coding::jpeg.
#pragma once

#include "input/pictures/decode.h"
#include "input/pictures/orientation.h"

namespace sterna::input {

Result<PictureShape> jpeg_shape(std::span<const std::uint8_t> bytes, std::uint64_t most_pixels);

/// Whether its colours are those of inks (CMYK or YCCK), which many programs do not read.
Result<bool> jpeg_has_inks(std::span<const std::uint8_t> bytes, std::uint64_t most_pixels);

/// Upright where its header cannot be read.
Orientation jpeg_orientation(std::span<const std::uint8_t> bytes);

Result<Picture> decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

}  // namespace sterna::input
