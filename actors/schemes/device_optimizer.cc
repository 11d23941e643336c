#include "actors/schemes/device_optimizer.h"

#include <utility>

namespace sterna::actors {

Result<DeviceOptimizer> DeviceOptimizer::make(const JobConfig& job, std::uint32_t rank,
                                              std::shared_ptr<const ParameterTable> table,
                                              std::shared_ptr<kernels::Device> device) {
  DeviceOptimizer made;
  STERNA_ASSIGN(made.host_, LocalOptimizer::make(job, rank, table));
  const auto rule = kernels::device_rule(job.local_optimizer.name);
  if (!rule) {
    return Error{Errc::invalid_argument,
                 "no device steps by local_optimizer.name = \"" + job.local_optimizer.name + "\""};
  }
  made.rule_ = *rule;
  made.tensors_.resize(table->tensors.size());
  made.table_ = std::move(table);
  made.device_ = std::move(device);
  return made;
}

bool DeviceOptimizer::steps(std::uint32_t tensor) const {
  const TableTensor& place = table_->tensors[tensor];
  return place.spec.role != nets::Role::statistic && !place.frozen;
}

Result<void> DeviceOptimizer::plan(std::uint32_t index, float* values,
                                   kernels::DeviceStream& stream) {
  STERNA_ASSIGN(DeviceUpdate made, DeviceUpdate::make(*device_, stream, host_.rule(), rule_,
                                                      table_->tensors[index].count, values));
  tensors_[index].emplace(std::move(made));
  return {};
}

Result<void> DeviceOptimizer::step(const RankStep& step, std::uint32_t index,
                                   std::span<const float> gradient, kernels::DeviceStream& stream) {
  return tensors_[index]->step(host_.options(step, index), gradient, stream);
}

Result<std::vector<KeptArray>> DeviceOptimizer::copy_slots(nets::Net& net, bool to_device) {
  std::vector<KeptArray> all = host_.slots();
  std::vector<std::size_t> next(tensors_.size());  // by tensor: the slot that comes
  for (const KeptArray& kept : all) {
    const auto work = [&](kernels::DeviceStream& stream, float*) -> Result<void> {
      float* const there =
          tensors_[kept.tensor]->slots() + next[kept.tensor]++ * kept.values.size();
      const std::size_t bytes = kept.values.size_bytes();
      STERNA_TRY(to_device ? stream.copy(there, kept.values.data(), bytes)
                           : stream.copy(kept.values.data(), there, bytes));
      return stream.finish();
    };
    STERNA_TRY(net.update_parameter(kept.tensor, work));
  }
  return all;
}

Result<void> DeviceOptimizer::restore(nets::Net& net) {
  STERNA_TRY(copy_slots(net, true));
  return {};
}

}  // namespace sterna::actors
