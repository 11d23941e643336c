// One person writing one digit: every choice that makes two of them differ.
#pragma once

#include <cstdint>
#include <span>

#include "input/digits/digit_glyphs.h"
#include "input/formats/dataset.h"

namespace sterna::input {

/// Draws image `index` of a split into `picture` (28 x 28) and returns its digit.
std::uint8_t write_digit(const Alphabet& alphabet, std::uint64_t seed, Split split,
                         std::uint32_t index, std::span<std::uint8_t> picture);

}  // namespace sterna::input
