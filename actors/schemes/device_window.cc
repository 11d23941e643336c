#include "actors/schemes/device_window.h"

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
    std::shared_ptr<kernels::Device> device, Pushed pushed, nets::Net& net) {
  STERNA_ASSIGN(LocalOptimizer optimizer, LocalOptimizer::make(job, rank, table));
  const auto rule = kernels::device_rule(job.local_optimizer.name);
  if (!rule) {
    return Error{Errc::invalid_argument,
                 "no device steps by local_optimizer.name = \"" + job.local_optimizer.name + "\""};
  }
  std::unique_ptr<DeviceWindow> made(new DeviceWindow(
      std::move(optimizer), std::move(table), std::move(device), job.window(), *rule, pushed));
  for (std::uint32_t tensor = 0; tensor < made->tensors_.size(); ++tensor) {
    if (made->table_->tensors[tensor].frozen) continue;
    STERNA_TRY(net.update_parameter(tensor, [&](kernels::DeviceStream& stream, float* values) {
      return made->make_tensor(tensor, values, stream);
    }));
  }
  return made;
}

Result<void> DeviceWindow::make_tensor(std::uint32_t index, float* values,
                                       kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  kernels::Device& on = *device_;
  const std::size_t count = table_->tensors[index].count;
  STERNA_ASSIGN(tensor.sum, DeviceArray<float>::make(on, count));
  STERNA_ASSIGN(tensor.complete, on.make_event());
  STERNA_ASSIGN(tensor.sent, on.make_event());
  STERNA_ASSIGN(tensor.sent_here, PinnedArray<Sent>::make(on, 1));
  STERNA_ASSIGN(tensor.sent_there, DeviceArray<Sent>::make(on, 1));
  if (!steps(index)) return {};
  if (pushed_ == Pushed::difference) {
    STERNA_ASSIGN(tensor.base, DeviceArray<float>::make(on, count));
  }
  const std::vector<float> start = optimizer_.rule().initial_slots(count);
  if (!start.empty()) {
    STERNA_ASSIGN(tensor.slots, kernels::uploaded<float>(on, stream, start));
  }
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
  return {};
}

Result<nets::Gradient> DeviceWindow::gradient(nets::Net& net, std::uint32_t index,
                                              const nets::Gradient& gradient) {
  Tensor& tensor = tensors_[index];
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
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
  sent.step = kernels::device_step(optimizer_.options(step_, index));
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
  if (pushed_ != Pushed::difference || !steps(place.tensor)) return {};
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    return stream.copy(tensors_[place.tensor].base.data() + place.first, values + place.first,
                       place.count * sizeof(float));
  };
  return net.update_parameter(place.tensor, work);
}

Result<std::vector<KeptArray>> DeviceWindow::copy_slots(nets::Net& net, bool to_device) {
  std::vector<KeptArray> all = optimizer_.slots();
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

Result<std::vector<KeptArray>> DeviceWindow::kept(nets::Net& net) { return copy_slots(net, false); }

Result<void> DeviceWindow::restored(nets::Net& net) {
  STERNA_TRY(copy_slots(net, true));
  return {};
}

}  // namespace sterna::actors
