// Windows as a device's launches describe them. Internal to this room.
#pragma once

#include "kernels/layers/layer_launch.h"
#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// Of an image batch {N, C, H, W}.
inline kernels::Windows windows_of(const Shape& input, const Window& window) {
  const Slide down = window.down(), across = window.across();
  const auto number = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  return {.images = number(input[0]),
          .rows = number(input[2]),
          .columns = number(input[3]),
          .channels = number(input[1]),
          .out_rows = number(down.out(input[2])),
          .out_columns = number(across.out(input[3])),
          .kernel_rows = number(down.kernel),
          .kernel_columns = number(across.kernel),
          .stride = number(down.stride),
          .rows_before = number(down.before(input[2])),
          .columns_before = number(across.before(input[3]))};
}

}  // namespace sterna::nets
