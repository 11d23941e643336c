#include "kernels/sums/aggregate.h"

#include <algorithm>
#include <cassert>

#include "kernels/sums/tile.h"

namespace sterna::kernels {

void average(std::span<const Packet> packets, std::span<float> out, Isa isa) {
  assert(!packets.empty());
  const TileKernels kernels = tiles(isa);
  for (std::size_t begin = 0; begin < out.size(); begin += kernels.elements) {
    kernels.average(packets.data(), packets.size(), begin,
                    std::min(kernels.elements, out.size() - begin), out.data() + begin);
  }
}

}  // namespace sterna::kernels
