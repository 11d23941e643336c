// A block's draws as a device's threads make them: one Philox call serves the 16 elements of a
// block of 512 that are its column's, the j-th of them element 32 j + column.
#pragma once

#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {

/// One Philox call's words, and that of the element in row `row` of its column.
struct ColumnDraw {
  std::uint32_t word[4];
  STERNA_DEVICE std::uint32_t of_row(std::uint32_t row) const {
    const std::uint32_t turn = 8 * (row % 4);
    return word[row / 4] << turn | word[row / 4] >> ((32 - turn) % 32);
  }
};

STERNA_DEVICE ColumnDraw draw_column(const BlockDraw& block, std::uint32_t column, Stream stream) {
  const auto words = philox(
      {block.counter0 + column, block.step, block.rank_tensor, static_cast<std::uint32_t>(stream)},
      block.key);
  return {{words[0], words[1], words[2], words[3]}};
}

}  // namespace sterna::kernels
