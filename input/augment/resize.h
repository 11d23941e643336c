// Pictures resized: down the columns first, then along the rows.
#pragma once

#include <cstdint>
#include <span>

#include "input/augment/taps.h"
#include "input/pictures/picture.h"
#include "kernels/isa/isa.h"

namespace sterna::input {

/// Resizes the part [rows.begin, rows.end) x [columns.begin, columns.end) of a picture, which is
/// what `part` holds, to rows.starts x columns.starts pixels of as many channels. Sums are taken in
/// fp32 without FMA, in the taps' order, and rounded to the nearest byte (half: up): the same bits
/// on every instruction set.
void resize(const Picture& part, const Taps& rows, const Taps& columns,
            std::span<std::uint8_t> pixels, kernels::Isa isa = kernels::best_isa());

}  // namespace sterna::input
