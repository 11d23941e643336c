// Numbers that others wrote, as whole ones: a cast of one that is too large is undefined.
#pragma once

#include <cstdint>

namespace sterna::launcher {

/// No run has more steps; up to here a double tells each whole number from the next.
inline constexpr std::int64_t kLastStep = 1'000'000'000'000'000;

/// `value` cut towards 0; beyond `least` or `most` that one, and of NaN `least`.
constexpr std::int64_t whole_number(double value, std::int64_t least, std::int64_t most) {
  if (!(value > static_cast<double>(least))) return least;
  if (value >= static_cast<double>(most)) return most;
  return static_cast<std::int64_t>(value);
}

}  // namespace sterna::launcher
