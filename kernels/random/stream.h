// What random numbers are for: word 3 of the Philox counter, so that no two uses share a draw.
#pragma once

#include <cstdint>

namespace sterna::kernels {

/// The numbers are part of the format (kernels/trits/TRITS.md): a new stream takes a new number.
enum class Stream : std::uint32_t {
  ternary = 0,
  dropout = 1,
  initializer = 2,
  shuffle = 3,
  digits = 4,
  augment = 5,
  synthetic = 6,
  rows = 7,
};

}  // namespace sterna::kernels
