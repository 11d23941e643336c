// The two passes over a gradient that `scaler` is made of, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::kernels {

inline constexpr std::size_t sigma_lanes = 16;
inline constexpr std::size_t sigma_block = 4096;

/// What lane l has summed over elements l, l + 16, ... of one block, in fp32.
struct LaneSums {
  alignas(64) float sum[sigma_lanes];
  alignas(64) float squares[sigma_lanes];
};

/// The sums over `count` <= sigma_block elements.
void sum_block(const float* x, std::size_t count, LaneSums& sums);
void sum_block_avx512(const float* x, std::size_t count, LaneSums& sums);

/// The bits of max |x|. As integers, the magnitudes of finite numbers < infinity < NaNs, so that
/// one integer maximum finds both the largest element and anything that is not finite.
std::uint32_t max_magnitude(const float* x, std::size_t count);
std::uint32_t max_magnitude_avx512(const float* x, std::size_t count);

}  // namespace sterna::kernels
