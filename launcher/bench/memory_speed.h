// What the machine's memory gives to one pass: the measure of everything in `sterna bench codec`.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/isa.h"

namespace sterna::launcher {

/// Reads every float once, at the full width of the instruction set, and returns something that
/// depends on all of them, for the caller to keep().
std::uint32_t read_all(std::span<const float> values, kernels::Isa isa);

/// Keeps `value` from being optimized away.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace sterna::launcher
