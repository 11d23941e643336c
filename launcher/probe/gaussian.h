// Draws of a normal distribution: what the trits of a gradient are measured on.
#pragma once

#include <cstdint>
#include <span>

namespace sterna::launcher {

/// Mean 0, standard deviation 0.01.
void fill_gaussian(std::span<float> values, std::uint64_t seed);

}  // namespace sterna::launcher
