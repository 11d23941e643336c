// The picture fuzzers' entry, apart from libFuzzer: an input is what is asked for and a file, as
//
//   [channels and shrink][top, left, rows, columns: of the picture's, in 256ths][the file]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "input/pictures/picture.h"

namespace sterna::fuzz {

/// Decodes the file, whole and a region of it, and dies if the region is not what the whole has
/// there. A PNG's checksums are put right first, or hardly any change would get past them. True if
/// it was a picture.
bool decode_picture(input::Coding coding, const std::uint8_t* data, std::size_t size);

/// Small pictures of every form, as inputs.
std::vector<std::string> picture_seeds(input::Coding coding);

}  // namespace sterna::fuzz
