// From the lanes of fp32 sums to a chunk's block sums in fp64. Internal.
#pragma once

#include "kernels/trits/scaler_blocks.h"
#include "kernels/trits/statistics.h"

namespace sterna::kernels {

/// Adds the 16 lanes of each of the chunk's blocks, in order. `to.elements` is set already.
void add_lanes(const LaneSums* lanes, ChunkStatistics& to);

}  // namespace sterna::kernels
