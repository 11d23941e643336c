// The arithmetic of what layers round to bf16 (layer_launch.h), written once for nvcc and for the
// host's compiler: what one thread of a device does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/layers/numbers_device.h"
#include "kernels/sums/bf16.h"

namespace sterna::kernels {

/// `kCount` elements, `step` apart from `first` on: all are read before the first is written.
template <std::uint32_t kCount>
STERNA_DEVICE void round_elements(const RoundLaunch& launch, std::size_t first, std::size_t step) {
  float numbers[kCount];
  STERNA_UNROLL
  for (std::uint32_t i = 0; i < kCount; ++i) numbers[i] = launch.from[first + i * step];
  STERNA_UNROLL
  for (std::uint32_t i = 0; i < kCount; ++i) launch.to[first + i * step] = to_bf16(numbers[i]);
}

template <std::uint32_t kCount>
STERNA_DEVICE void widen_elements(const WidenLaunch& launch, std::size_t first, std::size_t step) {
  std::uint16_t numbers[kCount];
  STERNA_UNROLL
  for (std::uint32_t i = 0; i < kCount; ++i) numbers[i] = launch.from[first + i * step];
  STERNA_UNROLL
  for (std::uint32_t i = 0; i < kCount; ++i) launch.to[first + i * step] = from_bf16(numbers[i]);
}

}  // namespace sterna::kernels
