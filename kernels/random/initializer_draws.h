// One attempt to draw from the truncated normal distribution, and how it is told without an exact
// exponential whether it is kept. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/random/initializer.h"

namespace sterna::kernels {

/// exp(-y) is computed as (sum of (-y/8)^n / n!, n to 5)^8 in fp32: for 0 <= y <= 2 the error stays
/// below 4e-6 (2.7e-6 of the series, the rest of rounding). A uniform number that is nearer to it
/// than this is compared exactly, which one in 25,000 is.
inline constexpr float kUnsure = 2e-5F;

/// The value of one element, exactly.
float truncated_normal_of(std::uint32_t element, float stddev, const InitialDraw& draw);

void truncated_normal_avx2(float* out, std::size_t count, float stddev, const InitialDraw& draw);
void truncated_normal_avx512(float* out, std::size_t count, float stddev, const InitialDraw& draw);

/// Elements that one draw of a uniform start serves.
inline constexpr std::uint32_t kUniformShares = 4;

/// The first element is the first of its draw.
void uniform_avx2(float* out, std::size_t count, float limit, const InitialDraw& draw);
void uniform_avx512(float* out, std::size_t count, float limit, const InitialDraw& draw);

}  // namespace sterna::kernels
