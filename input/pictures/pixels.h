// What decoding has in common whatever the coding: bounds, parts of pictures, and their channels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// `malformed` for a picture without pixels, with more than `most_pixels`, or with a side above
/// kMostSide.
Result<void> check_size(std::uint64_t rows, std::uint64_t columns, std::uint64_t most_pixels);

/// The region, or all of `shape`; `invalid_argument` where it is empty or reaches out of it.
Result<Region> region_in(const PictureShape& shape, const std::optional<Region>& region);

/// Y of ITU-R BT.601, in 16 bits of fraction, rounded: the same to the bit as libjpeg makes grey of
/// RGB.
std::uint8_t grey_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

/// Writes a row of pixels with 1 or 3 channels as pixels with 1 or 3 channels. `from` and `to` hold
/// as many pixels.
void convert_channels(std::span<const std::uint8_t> from, std::uint32_t from_channels,
                      std::span<std::uint8_t> to, std::uint32_t to_channels);

}  // namespace sterna::input
