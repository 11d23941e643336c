// StateCopy: of a chunk that workers step by themselves, all that a worker in the place of one that
// was lost goes on from.
#pragma once

#include <memory>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/server/chunk_updates.h"
#include "kernels/isa/isa.h"

namespace sterna::actors {

class StateCopy {
 public:
  /// Copies parameters and the optimizer's slots. `steps` lead from there to the version wanted.
  StateCopy(const Buffer& parameters, const std::vector<std::shared_ptr<Buffer>>& slots,
            std::vector<SummedStep> steps, BufferPool& pool);

  /// Makes the steps. Pure computing. Parameters, and behind them each of the slots, as fp32.
  std::shared_ptr<const Buffer> made(kernels::Isa isa);

 private:
  std::size_t count_;  // elements
  std::size_t slots_;
  std::shared_ptr<Buffer> values_;
  std::vector<SummedStep> steps_;
};

}  // namespace sterna::actors
