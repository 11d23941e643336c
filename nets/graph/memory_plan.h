// Where tensors lie that do not live at the same time: in one piece of memory, as short as it goes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sterna::nets {

/// A tensor's memory, from the first to the last of the moments in which it is used, both included.
struct Life {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Of a net's activations and their gradients, in bytes.
struct ActivationMemory {
  std::size_t bytes = 0;
  std::size_t bound = 0;  ///< the most that is alive at any moment
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< of each life's memory in bytes, multiples of 64
  std::size_t bytes = 0;             ///< of all
  std::size_t bound = 0;             ///< the most that is alive in one moment: no plan needs less
};

/// The largest first, each at the lowest place that nothing which lives beside it takes. The same
/// plan for the same lives.
MemoryPlan plan_memory(std::span<const Life> lives);

}  // namespace sterna::nets
