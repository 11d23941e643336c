// The steps of `average` and `update` on one tile, per instruction set. Internal.
//
// A tile is short enough for its sum to stay in the L1 cache through all steps, so that main memory
// sees each operand once; each step is then a plain loop. A tile starts on a block of planes.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/aggregate.h"
#include "kernels/isa.h"
#include "kernels/ternary.h"

namespace sterna::kernels {

inline constexpr std::size_t tile_elements = 2 * plane_block;

/// Every function works on `count` <= tile_elements elements.
struct TileKernels {
  /// sum += scaler * trit
  void (*add_planes)(const std::byte* planes, float scaler, std::size_t count, float* sum);
  /// sum += value; `values` at any alignment
  void (*add_fp32)(const std::byte* values, std::size_t count, float* sum);
  /// x = x / divisor
  void (*divide)(float divisor, std::size_t count, float* x);
  /// g += decay * w
  void (*add_decay)(float decay, const float* w, std::size_t count, float* g);
  /// next = w - lr * g
  void (*descend)(float lr, const float* w, const float* g, std::size_t count, float* next);
  /// a = m * a + g
  void (*accumulate)(float m, const float* g, std::size_t count, float* a);
};

TileKernels scalar_tiles();
TileKernels avx512_tiles();
inline TileKernels tiles(Isa isa) { return isa == Isa::avx512 ? avx512_tiles() : scalar_tiles(); }

/// The average of elements [begin, begin + count) of `packets`; `begin` is a multiple of a block.
void average_tile(const TileKernels& kernels, std::span<const Packet> packets, std::size_t begin,
                  std::size_t count, float* out);

}  // namespace sterna::kernels
