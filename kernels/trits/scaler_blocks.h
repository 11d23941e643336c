// The passes over a gradient that its statistics are made of, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/isa.h"

namespace sterna::kernels {

/// Partial sums that run side by side, and the elements after which they are added up (TRITS.md):
/// part of the definition of sigma's bits.
inline constexpr std::size_t kSigmaLanes = 16;
inline constexpr std::size_t kSigmaBlock = 4096;

/// fp32 sums over one block: lane l has those of elements l, l + 16, ...
struct LaneSums {
  alignas(64) float sum[kSigmaLanes];
  alignas(64) float squares[kSigmaLanes];
};

struct ScalerKernels {
  /// Adds `count` elements to `sums`, which has one LaneSums a block; x[0] starts a block.
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
