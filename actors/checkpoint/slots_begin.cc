#include "actors/checkpoint/slots_begin.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "actors/checkpoint/state_part.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::actors {

Task<Result<std::uint64_t>> read_slots_begin(CheckpointWriter& checkpoints,
                                             const ParameterTable& table, const JobConfig& job) {
  const std::string& name = job.optimizer.name;
  const auto optimizer = kernels::find_optimizer(name);
  STERNA_CO_TRY(optimizer);
  if (optimizer->slots.empty() || job.facts().differences) co_return 0;
  std::array<float, 2> note{};
  float looked_for = 0;
  std::vector<StateTarget> targets{{slots_begin_state(name), 0, note}};
  for (const TableTensor& tensor : table.tensors) {
    if (tensor.frozen || tensor.spec.role == nets::Role::statistic) continue;
    targets.push_back({array_of(slot_state(name, 0), tensor.spec.name), 0, {&looked_for, 1}});
  }
  const std::size_t tensors = targets.size() - 1;
  Task<Result<std::vector<std::size_t>>> reading =
      checkpoints.read(std::move(targets), job.deadlines.step);
  STERNA_CO_ASSIGN(const std::vector<std::size_t> absent, std::move(reading));
  const std::size_t notes = absent.empty() || absent.front() != 0 ? 0 : 1;
  if (absent.size() - notes == tensors) co_return job.first_step;
  co_return std::min(step_of(note), job.first_step);  // a checkpoint is a file like any other
}

}  // namespace sterna::actors
