#include "actors/encode/device_sums.h"

#include <utility>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::ElementLaunch;
using kernels::ElementPass;

Result<std::unique_ptr<DeviceSums>> DeviceSums::make(
    const std::vector<std::shared_ptr<kernels::Device>>& devices,
    std::span<const std::size_t> elements) {
  std::unique_ptr<DeviceSums> made(new DeviceSums(devices.front(), elements.size()));
  kernels::Device& on = *made->device_;
  STERNA_ASSIGN(made->stream_, on.make_stream());
  for (const std::shared_ptr<kernels::Device>& device : devices) {
    STERNA_ASSIGN(made->ends_.emplace_back(), on.make_event(kernels::EventUse::host));
    STERNA_TRY(on.reach(*device));
  }
  for (std::size_t tensor = 0; tensor < elements.size(); ++tensor) {
    if (elements[tensor] == 0) continue;
    Sum& sum = made->sums_[tensor];
    STERNA_ASSIGN(sum.values, DeviceArray<float>::make(on, elements[tensor]));
    STERNA_ASSIGN(sum.complete, on.make_event(kernels::EventUse::streams));
    sum.fetched.resize(devices.size());
    // Of the first device's ranks none is early (Worker::may_add).
    for (std::size_t from = 1; from < devices.size(); ++from) {
      STERNA_ASSIGN(sum.fetched[from], DeviceArray<float>::make(on, elements[tensor]));
    }
  }
  return made;
}

DeviceSums::~DeviceSums() {
  if (stream_) static_cast<void>(stream_->finish());
}

Result<AverageSums::Held> DeviceSums::hold(std::uint32_t tensor, std::uint32_t place,
                                           const nets::Gradient& gradient) {
  const std::lock_guard lock(mutex_);
  const std::size_t from = place % ends_.size();
  auto& fetched = sums_[tensor].fetched;
  if (fetched[from].size() == 0) {  // who takes no turns in that order
    STERNA_ASSIGN(fetched[from], DeviceArray<float>::make(*device_, gradient.values.size()));
  }
  if (gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*gradient.complete));
  STERNA_TRY(fetched[from].upload(*stream_, gradient.values));
  STERNA_TRY(stream_->record(*ends_[from]));
  return Held{{{fetched[from].data(), fetched[from].size()}}};
}

Result<void> DeviceSums::start(std::uint32_t tensor, const nets::Gradient& gradient) {
  const std::lock_guard lock(mutex_);
  const Sum& sum = sums_[tensor];
  STERNA_TRY(stream_->layer(ElementLaunch{
      .pass = ElementPass::clear, .out = sum.values.data(), .count = sum.values.size()}));
  return put(tensor, gradient);
}

Result<void> DeviceSums::add(std::uint32_t tensor, const nets::Gradient& gradient) {
  const std::lock_guard lock(mutex_);
  return put(tensor, gradient);
}

Result<void> DeviceSums::put(std::uint32_t tensor, const nets::Gradient& gradient) {
  float* const sum = sums_[tensor].values.data();
  if (gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*gradient.complete));
  return stream_->layer(ElementLaunch{.pass = ElementPass::add,
                                      .a = sum,
                                      .b = gradient.values.data(),
                                      .out = sum,
                                      .count = gradient.values.size()});
}

Result<nets::Gradient> DeviceSums::average(std::uint32_t tensor, std::uint32_t ranks) {
  const std::lock_guard lock(mutex_);
  const Sum& sum = sums_[tensor];
  STERNA_TRY(stream_->layer(ElementLaunch{.pass = ElementPass::divide,
                                          .a = sum.values.data(),
                                          .out = sum.values.data(),
                                          .count = sum.values.size(),
                                          .factor = static_cast<float>(ranks)}));
  STERNA_TRY(stream_->record(*sum.complete));
  return nets::Gradient{{sum.values.data(), sum.values.size()}, sum.complete.get()};
}

Result<void> DeviceSums::finish(std::uint32_t place) {
  const std::size_t of = place % ends_.size();
  if (of == 0) {  // what it gives is read as it is
    const std::lock_guard lock(mutex_);
    STERNA_TRY(stream_->record(*ends_[of]));
  }
  return ends_[of]->wait();
}

}  // namespace sterna::actors
