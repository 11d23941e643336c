#include "actors/worker/device_window.h"

#include <algorithm>
#include <utility>

#include "kernels/device/tables.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::ElementLaunch;
using kernels::ElementPass;
using kernels::PinnedArray;

DeviceWindow::DeviceWindow(LocalOptimizer optimizer, std::shared_ptr<const ParameterTable> table,
                           std::shared_ptr<kernels::Device> device, std::uint64_t window,
                           kernels::DeviceRule rule, Pushed pushed)
    : optimizer_(std::move(optimizer)),
      table_(std::move(table)),
      device_(std::move(device)),
      window_(window),
      rule_(rule),
      pushed_(pushed),
      tensors_(table_->tensors.size()) {}

DeviceWindow::~DeviceWindow() {
  for (Tensor& tensor : tensors_) {
    if (tensor.sent) static_cast<void>(tensor.sent->wait());
  }
}

Result<std::unique_ptr<DeviceWindow>> DeviceWindow::make(
    const JobConfig& job, std::uint32_t rank, std::shared_ptr<const ParameterTable> table,
    std::shared_ptr<kernels::Device> device, Pushed pushed) {
  STERNA_ASSIGN(LocalOptimizer optimizer, LocalOptimizer::make(job, rank, table));
  const auto rule = kernels::device_rule(job.local_optimizer.name);
  if (!rule) {
    return Error{Errc::invalid_argument,
                 "no device steps by local_optimizer.name = \"" + job.local_optimizer.name + "\""};
  }
  return std::unique_ptr<DeviceWindow>(new DeviceWindow(
      std::move(optimizer), std::move(table), std::move(device), job.window(), *rule, pushed));
}

Result<void> DeviceWindow::make_slots(std::uint32_t index, kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  const std::vector<float> start = optimizer_.rule().initial_slots(table_->tensors[index].count);
  if (start.empty() || tensor.slots.size() > 0) return {};
  STERNA_ASSIGN(tensor.slots, kernels::uploaded<float>(*device_, stream, start));
  return {};
}

Result<void> DeviceWindow::make_tensor(std::uint32_t index, float* values,
                                       kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  if (tensor.complete) return {};
  kernels::Device& on = *device_;
  const std::size_t count = table_->tensors[index].count;
  STERNA_ASSIGN(tensor.sum, DeviceArray<float>::make(on, count));
  STERNA_ASSIGN(tensor.sent, on.make_event());
  STERNA_ASSIGN(tensor.sent_here, PinnedArray<Sent>::make(on, 1));
  STERNA_ASSIGN(tensor.sent_there, DeviceArray<Sent>::make(on, 1));
  if (steps(index)) {
    STERNA_TRY(make_slots(index, stream));
    std::vector<kernels::UpdateWork> work;
    kernels::UpdatedTensor updated{.elements = count,
                                   .packets = &tensor.sent_there.data()->gradient,
                                   .current = values,
                                   .next = values};
    kernels::set_slots(updated, tensor.slots.data(), optimizer_.rule().slots().size());
    kernels::append_update(updated, work);
    STERNA_ASSIGN(tensor.work, kernels::uploaded<kernels::UpdateWork>(on, stream, work));
    tensor.launch = {.work = tensor.work.data(),
                     .count = static_cast<std::uint32_t>(work.size()),
                     .ranks = 1,
                     .rule = rule_,
                     .step = &tensor.sent_there.data()->step};
  }
  STERNA_ASSIGN(tensor.complete, on.make_event());  // last: all is there
  return {};
}

Result<nets::Gradient> DeviceWindow::gradient(nets::Net& net, std::uint32_t index,
                                              const nets::Gradient& gradient) {
  Tensor& tensor = tensors_[index];
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    STERNA_TRY(make_tensor(index, values, stream));
    if (gradient.complete != nullptr) STERNA_TRY(stream.wait_for(*gradient.complete));
    if (tensor.begun) {
      STERNA_TRY(stream.layer(ElementLaunch{.pass = ElementPass::add,
                                            .a = tensor.sum.data(),
                                            .b = gradient.values.data(),
                                            .out = tensor.sum.data(),
                                            .count = tensor.sum.size()}));
    } else {
      STERNA_TRY(
          stream.copy(tensor.sum.data(), gradient.values.data(), gradient.values.size_bytes()));
    }
    tensor.begun = !step_.pushes;
    if (steps(index)) STERNA_TRY(step(index, gradient, stream));
    if (!step_.pushes) return {};
    STERNA_TRY(close(index, values, stream));
    return stream.record(*tensor.complete);
  };
  STERNA_TRY(net.update_parameter(index, work));
  if (!step_.pushes) return nets::Gradient{};
  return nets::Gradient{{tensor.sum.data(), tensor.sum.size()}, tensor.complete.get()};
}

Result<void> DeviceWindow::step(std::uint32_t index, const nets::Gradient& gradient,
                                kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  STERNA_TRY(tensor.sent->wait());  // long ago, for the step before
  Sent& sent = *tensor.sent_here.data();
  const kernels::UpdateOptions options = optimizer_.options(step_, index);
  std::ranges::copy(options.constants.value, sent.step.value);
  sent.step.weight_decay = options.weight_decay;
  sent.gradient = {reinterpret_cast<const std::byte*>(gradient.values.data()), nullptr,
                   kernels::Packing::fp32};
  STERNA_TRY(tensor.sent_there.upload(stream, tensor.sent_here.elements()));
  STERNA_TRY(stream.record(*tensor.sent));
  return stream.update(tensor.launch);
}

Result<void> DeviceWindow::close(std::uint32_t index, const float* values,
                                 kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  const bool statistic = table_->tensors[index].spec.role == nets::Role::statistic;
  float* const sum = tensor.sum.data();
  if (!statistic && pushed_ == Pushed::difference) {
    return stream.layer(ElementLaunch{.pass = ElementPass::subtract,
                                      .a = values,
                                      .b = tensor.base.data(),
                                      .out = sum,
                                      .count = tensor.sum.size()});
  }
  if (!statistic && pushed_ == Pushed::sum) return {};
  // Statistics are never summed: servers move towards them.
  return stream.layer(ElementLaunch{.pass = ElementPass::divide,
                                    .a = sum,
                                    .out = sum,
                                    .count = tensor.sum.size(),
                                    .factor = static_cast<float>(window_)});
}

Result<void> DeviceWindow::came(nets::Net& net, const TableChunk& place) {
  if (pushed_ != Pushed::difference) return {};
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    DeviceArray<float>& base = tensors_[place.tensor].base;
    if (base.size() == 0) {
      STERNA_ASSIGN(base, DeviceArray<float>::make(*device_, table_->tensors[place.tensor].count));
    }
    return stream.copy(base.data() + place.first, values + place.first,
                       place.count * sizeof(float));
  };
  return net.update_parameter(place.tensor, work);
}

Result<std::vector<KeptArray>> DeviceWindow::copy_slots(nets::Net& net, bool to_device) {
  std::vector<KeptArray> all = optimizer_.slots();
  std::vector<std::size_t> next(tensors_.size());  // by tensor: the slot that comes
  for (const KeptArray& kept : all) {
    const auto work = [&](kernels::DeviceStream& stream, float*) -> Result<void> {
      STERNA_TRY(make_slots(kept.tensor, stream));
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

Result<std::vector<KeptArray>> DeviceWindow::kept(nets::Net& net) { return copy_slots(net, false); }

Result<void> DeviceWindow::restored(nets::Net& net) {
  STERNA_TRY(copy_slots(net, true));
  return {};
}

}  // namespace sterna::actors
