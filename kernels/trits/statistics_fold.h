// From the lanes of fp32 sums to a chunk's block sums in fp64. Internal.
#pragma once

#include "kernels/trits/scaler_blocks.h"
#include "kernels/trits/statistics.h"

namespace sterna::kernels {

/// Sets `to.blocks` from `lanes`, one for each of the chunk's blocks: lanes 0 to 15 are added in
/// that order, in fp64. `to.elements` says how many blocks there are.
void add_lanes(const LaneSums* lanes, ChunkStatistics& to);

}  // namespace sterna::kernels
