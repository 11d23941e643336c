#include "kernels/optimizer.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "kernels/tile.h"

namespace sterna::kernels {

void update(std::span<const Packet> packets, const UpdateOptions& options,
            std::span<const float> current, std::span<float> accumulator, std::span<float> next,
            Isa isa) {
  const bool momentum = options.optimizer == Optimizer::momentum;
  assert(!packets.empty());
  assert(next.size() == current.size());
  assert(accumulator.size() == (momentum ? current.size() : 0));
  const TileKernels kernels = tiles(isa);
  alignas(64) std::array<float, tile_elements> gradient;
  for (std::size_t begin = 0; begin < current.size(); begin += tile_elements) {
    const std::size_t count = std::min(tile_elements, current.size() - begin);
    const float* w = current.data() + begin;
    average_tile(kernels, packets, begin, count, gradient.data());
    if (options.weight_decay > 0) {
      kernels.add_decay(options.weight_decay, w, count, gradient.data());
    }
    const float* direction = gradient.data();
    if (momentum) {
      float* a = accumulator.data() + begin;
      kernels.accumulate(options.momentum, direction, count, a);
      direction = a;
    }
    kernels.descend(options.learning_rate, w, direction, count, next.data() + begin);
  }
}

}  // namespace sterna::kernels
