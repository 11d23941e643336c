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

inline constexpr TritModel most_trit_model = 0xAF;

/// The nearest model for `set` elements of `count` > 0; `set` is at most half of them.
TritModel trit_model(std::size_t set, std::size_t count);

/// Bytes where they are coded well, which is twice as fast; nibbles where many bytes would be rarer
/// than a slot.
Symbols symbols_of(TritModel model);

RansFrequencies frequencies_of(TritModel model);

}  // namespace sterna::kernels
