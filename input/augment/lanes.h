// What loops share that are compiled once for each instruction set. Internal.
#pragma once

#include <cstdint>

/// Inlined into functions of any instruction set: no calls, or the linker could keep a copy that an
/// older CPU cannot run.
#define STERNA_LANES_INLINE inline __attribute__((always_inline))

namespace sterna::input {

STERNA_LANES_INLINE float clamped(float x, float most) {
  const float low = x < 0.0F ? 0.0F : x;
  return low > most ? most : low;
}

/// The nearest byte, half: up.
STERNA_LANES_INLINE std::uint8_t nearest_byte(float x) {
  const float raised = clamped(x, 255.0F) + 0.5F;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(raised));
}

}  // namespace sterna::input
