// Which table codes a segment of trits: a function of one byte. Internal;
// kernels/entropy/ENTROPY.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/entropy/entropy_symbols.h"
#include "kernels/entropy/rans.h"

namespace sterna::kernels {

/// Stands for a probability below 1/2 that an element is set: (16 + low 4 bits) / 2^(6 + high 4
/// bits).
using TritModel = std::uint8_t;

inline constexpr TritModel kMostTritModel = 0xAF;

/// The nearest model for `set` elements of `count` > 0; `set` is at most half of them.
TritModel trit_model(std::size_t set, std::size_t count);

/// How a model's trits become symbols: as bytes, which is twice as fast, or as nibbles where many
/// bytes would be rarer than one of the table's slots.
Symbols symbols_of(TritModel model);

/// The table of a model, as ENTROPY.md defines it.
RansFrequencies frequencies_of(TritModel model);

}  // namespace sterna::kernels
