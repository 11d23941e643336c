// The average of one tile of elements, per instruction set. Internal.
//
// A tile is short enough for its average to stay in the L1 cache until the optimizer's step has
// used it, so that main memory sees each operand once. A tile starts on a block of planes.
#pragma once

#include <cstddef>

#include "kernels/isa/isa.h"
#include "kernels/sums/aggregate.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

inline constexpr std::size_t kMostTileElements = kPlaneBlock;

struct TileKernels {
  /// The length of a tile, at most kMostTileElements; every tile begins at a multiple of it.
  std::size_t elements;
  /// out = the average (kernels/sums/aggregate.h) of elements [begin, begin + count) of the `ranks`
  /// packets; count <= elements.
  void (*average)(const Packet* packets, std::size_t ranks, std::size_t begin, std::size_t count,
                  float* out);
  /// g += decay * w, element by element.
  void (*add_decay)(float decay, const float* w, std::size_t count, float* g);
};

TileKernels scalar_tiles();
TileKernels avx2_tiles();
TileKernels avx512_tiles();
TileKernels tiles(Isa isa);

}  // namespace sterna::kernels
