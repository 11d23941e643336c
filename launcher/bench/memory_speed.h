// What the machine's memory gives to one pass: the measure of everything that `sterna bench codec`
// and `sterna bench exchange` measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

/// Reads every float once, at the full width of the instruction set, and returns something that
/// depends on all of them, for the caller to keep().
std::uint32_t read_all(std::span<const float> values, kernels::Isa isa);

/// read_gbps and memcpy_gbps: passes over so many floats in huge pages, medians over the rounds.
Result<Figures> measure_memory(std::size_t floats, kernels::Isa isa, int rounds);

/// Keeps `value` from being optimized away.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace sterna::launcher
