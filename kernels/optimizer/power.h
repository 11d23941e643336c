// Powers that, unlike a library's, have the same bits on every machine.
#pragma once

#include <cmath>
#include <cstdint>

namespace sterna::kernels {

/// By squaring.
inline double power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

/// Of a base that is not negative, by an exponent from 0 up to 2^53: what follows the point makes
/// square roots, of which the first is the whole of an exponent of 0.5.
inline double real_power(double base, double exponent) {
  const double whole = std::floor(exponent);
  double result = power(base, static_cast<std::uint64_t>(whole));
  double root = base;
  for (double part = exponent - whole; part > 0;) {
    root = std::sqrt(root);
    part *= 2;
    if (part < 1) continue;
    result *= root;
    part -= 1;
  }
  return result;
}

}  // namespace sterna::kernels
