// libjpeg-turbo by itself: what `sterna bench input` measures the preparing of pictures against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// Decodes all of a JPEG to red, green and blue as libjpeg does unless told otherwise, each row
/// straight to its place in `pixels`, whose memory is kept from call to call. Errors: what libjpeg
/// refuses.
Result<void> decode_raw(std::span<const std::uint8_t> jpeg, std::vector<std::uint8_t>& pixels);

}  // namespace sterna::launcher
