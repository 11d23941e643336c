// The passes over a gradient that its statistics are made of, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/isa.h"

namespace sterna::kernels {

inline constexpr std::size_t sigma_lanes = 16;
inline constexpr std::size_t sigma_block = 4096;

/// What lane l has summed over elements l, l + 16, ... of one block, in fp32.
struct LaneSums {
  alignas(64) float sum[sigma_lanes];
  alignas(64) float squares[sigma_lanes];
};

struct ScalerKernels {
  /// Adds `count` elements to `sums`, one for each sigma_block of them; x[0] starts a block.
  void (*add_blocks)(const float* x, std::size_t count, LaneSums* sums);
  /// The bits of max |x|. As integers, the magnitudes of finite numbers < infinity < NaNs, so that
  /// one integer maximum finds both the largest element and anything that is not finite.
  std::uint32_t (*max_magnitude)(const float* x, std::size_t count);
};

ScalerKernels scaler_kernels(Isa isa);
ScalerKernels scalar_scaler();
ScalerKernels avx2_scaler();
ScalerKernels avx512_scaler();

}  // namespace sterna::kernels
