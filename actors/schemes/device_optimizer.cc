#include "actors/schemes/device_optimizer.h"

#include <utility>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

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

DeviceOptimizer::~DeviceOptimizer() {
  for (Tensor& tensor : tensors_) {
    if (tensor.sent) static_cast<void>(tensor.sent->wait());
  }
}

bool DeviceOptimizer::steps(std::uint32_t tensor) const {
  const TableTensor& place = table_->tensors[tensor];
  return place.spec.role != nets::Role::statistic && !place.frozen;
}

Result<void> DeviceOptimizer::plan(std::uint32_t index, float* values,
                                   kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  kernels::Device& on = *device_;
  const std::size_t count = table_->tensors[index].count;
  STERNA_ASSIGN(tensor.sent, on.make_event());
  STERNA_ASSIGN(tensor.sent_here, PinnedArray<Sent>::make(on, 1));
  STERNA_ASSIGN(tensor.sent_there, DeviceArray<Sent>::make(on, 1));
  const std::vector<float> start = host_.rule().initial_slots(count);
  if (!start.empty()) {
    STERNA_ASSIGN(tensor.slots, kernels::uploaded<float>(on, stream, start));
  }
  std::vector<kernels::UpdateWork> work;
  kernels::UpdatedTensor updated{.elements = count,
                                 .packets = &tensor.sent_there.data()->gradient,
                                 .current = values,
                                 .next = values};
  kernels::set_slots(updated, tensor.slots.data(), host_.rule().slots().size());
  kernels::append_update(updated, work);
  STERNA_ASSIGN(tensor.work, kernels::uploaded<kernels::UpdateWork>(on, stream, work));
  tensor.launch = {.work = tensor.work.data(),
                   .count = static_cast<std::uint32_t>(work.size()),
                   .ranks = 1,
                   .rule = rule_,
                   .step = &tensor.sent_there.data()->step};
  return {};
}

Result<void> DeviceOptimizer::step(const RankStep& step, std::uint32_t index,
                                   std::span<const float> gradient, kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  STERNA_TRY(tensor.sent->wait());  // long ago, for the step before
  Sent& sent = *tensor.sent_here.data();
  sent.step = kernels::device_step(host_.options(step, index));
  sent.gradient = {reinterpret_cast<const std::byte*>(gradient.data()), nullptr,
                   kernels::Packing::fp32};
  STERNA_TRY(tensor.sent_there.upload(stream, tensor.sent_here.elements()));
  STERNA_TRY(stream.record(*tensor.sent));
  return stream.update(tensor.launch);
}

Result<std::vector<KeptArray>> DeviceOptimizer::copy_slots(nets::Net& net, bool to_device) {
  std::vector<KeptArray> all = host_.slots();
  std::vector<std::size_t> next(tensors_.size());  // by tensor: the slot that comes
  for (const KeptArray& kept : all) {
    const auto work = [&](kernels::DeviceStream& stream, float*) -> Result<void> {
      float* const there =
          tensors_[kept.tensor].slots.data() + next[kept.tensor]++ * kept.values.size();
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
