#include "actors/encode/device_residuals.h"

#include <algorithm>
#include <utility>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

Result<std::unique_ptr<DeviceResiduals>> DeviceResiduals::make(
    std::shared_ptr<kernels::Device> device, Residuals& host, std::size_t tensors) {
  std::unique_ptr<DeviceResiduals> made(new DeviceResiduals(std::move(device), host, tensors));
  STERNA_ASSIGN(made->down_, made->device_->make_stream());
  return made;
}

DeviceResiduals::~DeviceResiduals() {
  if (down_) static_cast<void>(down_->finish());
}

Result<void> DeviceResiduals::expect(std::uint32_t index) {
  Tensor& tensor = tensors_[index];
  if (tensor.values.size() > 0) return {};
  const std::size_t count = host_.before(index).size();
  if (host_.outlive_worker()) {
    STERNA_ASSIGN(tensor.here, PinnedArray<float>::make(*device_, count));
    STERNA_ASSIGN(tensor.arrived, device_->make_event(kernels::EventUse::host));
  }
  STERNA_ASSIGN(tensor.values, DeviceArray<float>::make(*device_, count));  // last: all is there
  return {};
}

Result<std::span<float>> DeviceResiduals::bring(std::uint32_t index,
                                                kernels::DeviceStream& stream) {
  STERNA_TRY(expect(index));
  Tensor& tensor = tensors_[index];
  if (!std::exchange(tensor.is_there, true)) {
    STERNA_TRY(tensor.values.upload(stream, host_.before(index)));
  }
  return there(index);
}

std::span<float> DeviceResiduals::there(std::uint32_t tensor) const {
  return {tensors_[tensor].values.data(), tensors_[tensor].values.size()};
}

Result<void> DeviceResiduals::leave(std::uint32_t index, kernels::DeviceEvent& left) {
  if (!host_.outlive_worker()) return {};
  const Tensor& tensor = tensors_[index];
  STERNA_TRY(down_->wait_for(left));
  STERNA_TRY(tensor.values.download(*down_, tensor.here.elements()));
  STERNA_TRY(down_->record(*tensor.arrived));
  on_their_way_.push_back(index);
  return {};
}

Result<void> DeviceResiduals::land_front() {
  const std::uint32_t index = on_their_way_.front();
  STERNA_TRY(tensors_[index].arrived->wait());
  on_their_way_.pop_front();
  host_.open(index);
  std::ranges::copy(tensors_[index].here.elements(), host_.newest(index).begin());
  host_.stamp(index);
  return {};
}

Result<bool> DeviceResiduals::land_one() {
  if (on_their_way_.empty()) return false;
  STERNA_ASSIGN(const bool arrived, tensors_[on_their_way_.front()].arrived->passed());
  if (arrived) STERNA_TRY(land_front());
  return arrived;
}

Result<void> DeviceResiduals::land_all() {
  while (!on_their_way_.empty()) STERNA_TRY(land_front());
  return {};
}

Result<void> DeviceResiduals::land(std::uint32_t tensor) {
  while (std::ranges::count(on_their_way_, tensor) > 0) STERNA_TRY(land_front());
  return {};
}

Result<void> DeviceResiduals::fetch(std::uint32_t index) {
  const Tensor& tensor = tensors_[index];
  if (!tensor.is_there || host_.outlive_worker()) return {};  // the host has them
  STERNA_TRY(tensor.values.download(*down_, host_.newest(index)));
  return down_->finish();
}

Result<void> DeviceResiduals::fetch_all() {
  for (std::uint32_t tensor = 0; tensor < tensors_.size(); ++tensor) STERNA_TRY(fetch(tensor));
  return {};
}

void DeviceResiduals::renew_all() {
  for (Tensor& tensor : tensors_) tensor.is_there = false;
}

}  // namespace sterna::actors
