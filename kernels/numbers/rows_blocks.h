// A row's ends and its elements' levels, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/trits/ternary.h"

namespace sterna::kernels {

/// A row's least and its largest element, of which a zero is +0; NaN where one is not finite.
struct RowEnds {
  float least = 0;
  float largest = 0;
};

RowEnds row_ends(const float* row, std::size_t count);
RowEnds row_ends_avx2(const float* row, std::size_t count);

/// How elements become levels: floor((element - least) * places + u), at most `most`.
struct RowLevels {
  double least;
  double places;  ///< levels in 1
  std::uint32_t most;
  TernaryDraw draw;
};

/// The levels of `count` elements, of which the first has index `first` in its tensor.
void row_levels(const RowLevels& how, const float* row, std::size_t count, std::uint64_t first,
                std::uint8_t* levels);
void row_levels_avx2(const RowLevels& how, const float* row, std::size_t count, std::uint64_t first,
                     std::uint8_t* levels);

}  // namespace sterna::kernels
