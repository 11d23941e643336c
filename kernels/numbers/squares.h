// The sum of squares of a gradient, in one order on every machine and device.
//
// Elements are taken in blocks of 4,096. In each, lane l of 16 adds up x² of its elements l, l +
// 16,
// ...; then the lanes are added in order, and the blocks. All is fp64, in which the square of an
// fp32 is exact.
#pragma once

#include <cstddef>
#include <span>

namespace sterna::kernels {

inline constexpr std::size_t kSquaresBlock = 4096;
inline constexpr std::size_t kSquaresLanes = 16;

double sum_of_squares(std::span<const float> values);

}  // namespace sterna::kernels
