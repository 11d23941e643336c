#include "actors/schemes/device_elastic.h"

#include <algorithm>
#include <utility>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::ElementLaunch;
using kernels::ElementPass;
using kernels::PinnedArray;

DeviceElastic::DeviceElastic(const JobConfig& job, DeviceOptimizer optimizer,
                             std::shared_ptr<const ParameterTable> table,
                             std::shared_ptr<kernels::Device> device)
    : optimizer_(std::move(optimizer)),
      table_(std::move(table)),
      device_(std::move(device)),
      alpha_(static_cast<float>(job.scheme.moving_rate)),
      delta_(job.scheme.name == "aeamsgd" ? static_cast<float>(job.scheme.momentum) : 0),
      nesterov_(job.scheme.name == "aeamsgd"),
      tensors_(table_->tensors.size()) {}

DeviceElastic::~DeviceElastic() {
  for (Tensor& tensor : tensors_) {
    for (const auto& left : tensor.left) {
      if (left) static_cast<void>(left->wait());
    }
  }
}

Result<std::unique_ptr<DeviceLocalSteps>> DeviceElastic::make(
    const JobConfig& job, std::uint32_t rank, std::shared_ptr<const ParameterTable> table,
    std::shared_ptr<kernels::Device> device, nets::Net& net) {
  STERNA_ASSIGN(DeviceOptimizer optimizer, DeviceOptimizer::make(job, rank, table, device));
  std::unique_ptr<DeviceElastic> made(
      new DeviceElastic(job, std::move(optimizer), std::move(table), std::move(device)));
  std::size_t most = 0;
  for (const TableTensor& tensor : made->table_->tensors) {
    most = std::max<std::size_t>(most, tensor.frozen ? 0 : tensor.count);
  }
  STERNA_ASSIGN(made->scratch_, DeviceArray<float>::make(*made->device_, most));
  for (std::uint32_t tensor = 0; tensor < made->tensors_.size(); ++tensor) {
    if (made->table_->tensors[tensor].frozen) continue;
    STERNA_TRY(net.update_parameter(tensor, [&](kernels::DeviceStream& stream, float* values) {
      return made->make_tensor(tensor, values, stream);
    }));
  }
  return std::unique_ptr<DeviceLocalSteps>(std::move(made));
}

Result<void> DeviceElastic::make_tensor(std::uint32_t index, float* values,
                                        kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[index];
  kernels::Device& on = *device_;
  const std::size_t count = table_->tensors[index].count;
  STERNA_ASSIGN(tensor.push, DeviceArray<float>::make(on, count));
  STERNA_ASSIGN(tensor.complete, on.make_event(kernels::EventUse::streams));
  if (!optimizer_.steps(index)) return {};
  STERNA_ASSIGN(tensor.theirs, DeviceArray<float>::make(on, count));
  STERNA_ASSIGN(tensor.here, PinnedArray<float>::make(on, count));
  tensor.left.resize(table_->tensors[index].chunks);
  for (auto& left : tensor.left) {
    STERNA_ASSIGN(left, on.make_event(kernels::EventUse::host));
  }
  if (!nesterov_) return optimizer_.plan(index, values, stream);
  STERNA_ASSIGN(tensor.x, DeviceArray<float>::make(on, count));
  const std::vector<float> still(count);
  STERNA_ASSIGN(tensor.v, kernels::uploaded<float>(on, stream, still));
  return {};
}

Result<nets::Gradient> DeviceElastic::gradient(nets::Net& net, std::uint32_t index,
                                               const nets::Gradient& gradient) {
  Tensor& tensor = tensors_[index];
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    const std::span<const float> g = gradient.values;
    if (gradient.complete != nullptr) STERNA_TRY(stream.wait_for(*gradient.complete));
    const bool steps = optimizer_.steps(index);
    if (!steps) STERNA_TRY(put_statistic(tensor, g, stream));
    if (step().pushes) {
      if (steps) STERNA_TRY(put_push(tensor, own(tensor, values), stream));
      STERNA_TRY(stream.record(*tensor.complete));
    }
    if (!steps) return {};
    return nesterov_ ? put_velocity(tensor, g, values, stream)
                     : optimizer_.step(step(), index, g, stream);
  };
  STERNA_TRY(net.update_parameter(index, work));
  if (!step().pushes) return nets::Gradient{};
  return nets::Gradient{place(index), tensor.complete.get()};
}

Result<void> DeviceElastic::put_push(Tensor& tensor, const float* x,
                                     kernels::DeviceStream& stream) {
  float* const push = tensor.push.data();
  const std::size_t count = tensor.push.size();
  STERNA_TRY(stream.layer(ElementLaunch{.pass = ElementPass::subtract,
                                        .a = x,
                                        .b = tensor.theirs.data(),
                                        .out = push,
                                        .count = count}));
  return stream.layer(ElementLaunch{
      .pass = ElementPass::scale, .a = push, .out = push, .count = count, .factor = alpha_});
}

Result<void> DeviceElastic::put_statistic(Tensor& tensor, std::span<const float> g,
                                          kernels::DeviceStream& stream) {
  float* const sum = tensor.push.data();
  if (tensor.batches == 0) {
    STERNA_TRY(stream.copy(sum, g.data(), g.size_bytes()));
  } else {
    STERNA_TRY(stream.layer(ElementLaunch{
        .pass = ElementPass::add, .a = sum, .b = g.data(), .out = sum, .count = g.size()}));
  }
  ++tensor.batches;
  if (!step().pushes) return {};
  return stream.layer(ElementLaunch{.pass = ElementPass::divide,
                                    .a = sum,
                                    .out = sum,
                                    .count = g.size(),
                                    .factor = std::exchange(tensor.batches, 0.0F)});
}

Result<void> DeviceElastic::put_velocity(Tensor& tensor, std::span<const float> g, float* values,
                                         kernels::DeviceStream& stream) {
  float* const v = tensor.v.data();
  float* const x = tensor.x.data();
  float* const scaled = scratch_.data();
  STERNA_TRY(stream.layer(ElementLaunch{
      .pass = ElementPass::scale, .a = v, .out = v, .count = g.size(), .factor = delta_}));
  STERNA_TRY(stream.layer(ElementLaunch{.pass = ElementPass::scale,
                                        .a = g.data(),
                                        .out = scaled,
                                        .count = g.size(),
                                        .factor = optimizer_.rate(step())}));
  STERNA_TRY(stream.layer(ElementLaunch{
      .pass = ElementPass::subtract, .a = v, .b = scaled, .out = v, .count = g.size()}));
  STERNA_TRY(stream.layer(
      ElementLaunch{.pass = ElementPass::add, .a = x, .b = v, .out = x, .count = g.size()}));
  return put_ahead(tensor, 0, g.size(), values, stream);
}

Result<void> DeviceElastic::put_ahead(Tensor& tensor, std::size_t first, std::size_t count,
                                      float* values, kernels::DeviceStream& stream) {
  float* const scaled = scratch_.data();
  STERNA_TRY(stream.layer(ElementLaunch{.pass = ElementPass::scale,
                                        .a = tensor.v.data() + first,
                                        .out = scaled,
                                        .count = count,
                                        .factor = delta_}));
  return stream.layer(ElementLaunch{.pass = ElementPass::add,
                                    .a = tensor.x.data() + first,
                                    .b = scaled,
                                    .out = values + first,
                                    .count = count});
}

Result<void> DeviceElastic::send(const TableChunk& place, std::span<const float> numbers, float* to,
                                 kernels::DeviceStream& stream) {
  Tensor& tensor = tensors_[place.tensor];
  const TableTensor& of = table_->tensors[place.tensor];
  const std::span<const TableChunk> chunks = table_->chunks_of(of);
  const auto chunk = std::ranges::upper_bound(chunks, place.first, {}, &TableChunk::first);
  kernels::DeviceEvent& left = *tensor.left[static_cast<std::size_t>(chunk - chunks.begin()) - 1];
  STERNA_TRY(left.wait());  // long ago, for the window before
  const std::span<float> here = tensor.here.elements().subspan(place.first, place.count);
  std::ranges::copy(numbers, here.begin());
  STERNA_TRY(stream.copy(to, here.data(), here.size_bytes()));
  return stream.record(left);
}

Result<void> DeviceElastic::sent(nets::Net& net, const TableChunk& place,
                                 std::span<const float> decoded) {
  if (!optimizer_.steps(place.tensor)) return {};
  Tensor& tensor = tensors_[place.tensor];
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    STERNA_TRY(send(place, decoded, scratch_.data(), stream));
    float* const x = own(tensor, values) + place.first;
    STERNA_TRY(stream.layer(ElementLaunch{.pass = ElementPass::subtract,
                                          .a = x,
                                          .b = scratch_.data(),
                                          .out = x,
                                          .count = place.count}));
    if (!nesterov_) return {};
    return put_ahead(tensor, place.first, place.count, values, stream);
  };
  return net.update_parameter(place.tensor, work);
}

Result<void> DeviceElastic::came(nets::Net& net, const TableChunk& place,
                                 std::span<const float> theirs) {
  Tensor& tensor = tensors_[place.tensor];
  if (!optimizer_.steps(place.tensor)) {
    return net.write_parameter(place.tensor, place.first, theirs);
  }
  const bool first = tensor.began < table_->tensors[place.tensor].count;
  const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    float* const there = tensor.theirs.data() + place.first;
    const std::size_t bytes = place.count * sizeof(float);
    STERNA_TRY(send(place, theirs, there, stream));
    if (!first) return {};
    // The first version is where it begins.
    if (nesterov_) STERNA_TRY(stream.copy(tensor.x.data() + place.first, there, bytes));
    return stream.copy(values + place.first, there, bytes);
  };
  STERNA_TRY(net.update_parameter(place.tensor, work));
  if (first) tensor.began += place.count;
  return {};
}

Result<std::vector<KeptArray>> DeviceElastic::kept(nets::Net& net) {
  std::vector<KeptArray> all;
  if (!nesterov_) {
    STERNA_ASSIGN(all, optimizer_.slots(net));
  }
  for (std::uint32_t index = 0; index < tensors_.size(); ++index) {
    Tensor& tensor = tensors_[index];
    if (table_->tensors[index].spec.role == nets::Role::statistic) {
      tensor.own_here.resize(table_->tensors[index].count + 1);
      all.push_back({"statistics", index, tensor.own_here, true});
    }
    if (!optimizer_.steps(index)) continue;
    tensor.own_here.resize(table_->tensors[index].count);
    all.push_back({"own", index, tensor.own_here});
    if (!nesterov_) continue;
    tensor.velocity_here.resize(tensor.own_here.size());
    all.push_back({"velocity", index, tensor.velocity_here});
  }
  STERNA_TRY(copy_own(net, false));
  return all;
}

Result<void> DeviceElastic::restored(nets::Net& net, bool place) {
  if (!nesterov_) STERNA_TRY(optimizer_.restore(net));
  return place ? copy_own(net, true) : Result<void>();
}

Result<void> DeviceElastic::copy_statistic(nets::Net& net, std::uint32_t index, bool to_device) {
  Tensor& tensor = tensors_[index];
  float& batches = tensor.own_here.back();
  if (to_device) {
    tensor.batches = batches;
  } else {
    batches = tensor.batches;
  }
  const std::size_t bytes = tensor.push.size() * sizeof(float);
  return net.update_parameter(index, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
    float* const there = tensor.push.data();
    float* const here = tensor.own_here.data();
    STERNA_TRY(to_device ? stream.copy(there, here, bytes) : stream.copy(here, there, bytes));
    return stream.finish();
  });
}

Result<void> DeviceElastic::copy_own(nets::Net& net, bool to_device) {
  for (std::uint32_t index = 0; index < tensors_.size(); ++index) {
    if (table_->tensors[index].spec.role == nets::Role::statistic) {
      STERNA_TRY(copy_statistic(net, index, to_device));
    }
    if (!optimizer_.steps(index)) continue;
    Tensor& tensor = tensors_[index];
    const std::size_t bytes = tensor.own_here.size() * sizeof(float);
    const auto work = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
      float* const x = own(tensor, values);
      if (!to_device) {
        STERNA_TRY(stream.copy(tensor.own_here.data(), x, bytes));
        if (nesterov_) STERNA_TRY(stream.copy(tensor.velocity_here.data(), tensor.v.data(), bytes));
        return stream.finish();
      }
      STERNA_TRY(stream.copy(x, tensor.own_here.data(), bytes));
      if (nesterov_) {
        STERNA_TRY(stream.copy(tensor.v.data(), tensor.velocity_here.data(), bytes));
        STERNA_TRY(put_ahead(tensor, 0, tensor.own_here.size(), values, stream));
      }
      tensor.began = tensor.own_here.size();
      return stream.finish();
    };
    STERNA_TRY(net.update_parameter(index, work));
  }
  return {};
}

}  // namespace sterna::actors
