// StateCopy: of a chunk, all that one who was lost goes on from: a worker that steps by itself, or
// the partner of its server.
#pragma once

#include <memory>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/server/shard/chunk_updates.h"
#include "kernels/isa/isa.h"

namespace sterna::actors {

class StateCopy {
 public:
  /// Copies parameters, the optimizer's slots, and the moving average (null: none). `steps` lead
  /// from there to the version wanted.
  StateCopy(const Buffer& parameters, const std::vector<std::shared_ptr<Buffer>>& slots,
            const Buffer* average, std::vector<SummedStep> steps, BufferPool& pool);

  /// Makes the steps. Pure computing. Parameters, behind them each of the slots, and then the
  /// average, as fp32.
  std::shared_ptr<const Buffer> made(kernels::Isa isa);

 private:
  std::size_t count_;  // elements
  std::size_t slots_;
  bool averages_;
  std::shared_ptr<Buffer> values_;
  std::vector<SummedStep> steps_;
};

}  // namespace sterna::actors
