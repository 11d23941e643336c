// Pictures as files, in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// A PNG of 8 bits a channel, grey or RGB, that decodes to the same pixels. Errors: a picture with
/// more than a million rows or columns, or without any.
Result<std::vector<std::uint8_t>> encode_png(const Picture& picture);

/// A baseline JPEG. Quality is 1 to 100, as libjpeg means it; the colours of RGB have half the
/// resolution (4:2:0). Errors: a picture with more than 65,500 rows or columns, or without any.
Result<std::vector<std::uint8_t>> encode_jpeg(const Picture& picture, int quality);

}  // namespace sterna::input
