#include "actors/schemes/device_window.h"

#include <utility>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::ElementLaunch;
using kernels::ElementPass;

DeviceWindow::DeviceWindow(DeviceOptimizer optimizer, std::shared_ptr<const ParameterTable> table,
                           std::shared_ptr<kernels::Device> device, std::uint64_t window,
                           Pushed pushed)
    : optimizer_(std::move(optimizer)),
      table_(std::move(table)),
      device_(std::move(device)),
      window_(window),
      pushed_(pushed),
      tensors_(table_->tensors.size()) {}

Result<std::unique_ptr<DeviceLocalSteps>> DeviceWindow::make_pushing(
    Pushed pushed, const JobConfig& job, std::uint32_t rank,
    std::shared_ptr<const ParameterTable> table, std::shared_ptr<kernels::Device> device,
    nets::Net& net) {
  STERNA_ASSIGN(DeviceOptimizer optimizer, DeviceOptimizer::make(job, rank, table, device));
  std::unique_ptr<DeviceWindow> made(new DeviceWindow(std::move(optimizer), std::move(table),
                                                      std::move(device), job.window(), pushed));
  for (std::uint32_t tensor = 0; tensor < made->tensors_.size(); ++tensor) {
    if (made->table_->tensors[tensor].frozen) continue;
    STERNA_TRY(net.update_parameter(tensor, [&](kernels::DeviceStream& stream, float* values) {
      return made->make_tensor(tensor, values, stream);
    }));
  }
  return std::unique_ptr<DeviceLocalSteps>(std::move(made));
}

Result<void> DeviceWindow::make_tensor(std::uint32_t index, float* values,
                                       kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  const std::size_t count = table_->tensors[index].count;
  STERNA_ASSIGN(tensor.sum, DeviceArray<float>::make(*device_, count));
  STERNA_ASSIGN(tensor.complete, device_->make_event(kernels::EventUse::streams));
  if (!optimizer_.steps(index)) return {};
  if (pushed_ == Pushed::difference) {
    STERNA_ASSIGN(tensor.base, DeviceArray<float>::make(*device_, count));
  }
  return optimizer_.plan(index, values, stream);
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
    tensor.begun = !step().pushes;
    if (optimizer_.steps(index)) {
      STERNA_TRY(optimizer_.step(step(), index, gradient.values, stream));
    }
    if (!step().pushes) return {};
    STERNA_TRY(close(index, values, stream));
    return stream.record(*tensor.complete);
  };
  STERNA_TRY(net.update_parameter(index, work));
  if (!step().pushes) return nets::Gradient{};
  return nets::Gradient{place(index), tensor.complete.get()};
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

Result<void> DeviceWindow::came(nets::Net& net, const TableChunk& place,
                                std::span<const float> theirs) {
  STERNA_TRY(net.write_parameter(place.tensor, place.first, theirs));
  if (pushed_ != Pushed::difference || !optimizer_.steps(place.tensor)) return {};
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    return stream.copy(tensors_[place.tensor].base.data() + place.first, values + place.first,
                       place.count * sizeof(float));
  };
  return net.update_parameter(place.tensor, work);
}

}  // namespace sterna::actors
