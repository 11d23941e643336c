// Draws of a normal distribution: what the trits of a gradient are measured on.
#pragma once

#include <cstdint>
#include <span>

namespace sterna::launcher {

/// Of mean 0 and standard deviation 0.01, a function of the seed.
void fill_gaussian(std::span<float> values, std::uint64_t seed);

}  // namespace sterna::launcher
