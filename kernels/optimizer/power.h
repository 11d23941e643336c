#pragma once

#include <cstdint>

namespace sterna::kernels {

/// By squaring: unlike a library's pow, the same bits on every machine.
inline double power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

}  // namespace sterna::kernels
