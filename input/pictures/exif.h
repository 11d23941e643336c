// The one thing of EXIF that decoding needs: how the camera was held.
#pragma once

#include <cstdint>
#include <span>

#include "input/pictures/orientation.h"

namespace sterna::input {

/// Whether a JPEG's APP1 segment (what follows its length) holds EXIF.
bool is_exif(std::span<const std::uint8_t> segment);

/// Tag 0x0112 of the first directory (Exif 2.3, 4.6.4 A); upright where it is missing or damaged:
/// a picture is not refused for what a camera wrote beside it.
Orientation exif_orientation(std::span<const std::uint8_t> segment);

}  // namespace sterna::input
