// DeviceClip: gradients on a device are measured and scaled down there, on a stream of its own; the
// host gets a number for each.
#pragma once

#include <memory>
#include <vector>

#include "actors/encode/gradient_clip.h"
#include "actors/parameters/parameter_table.h"
#include "kernels/device/device_array.h"

namespace sterna::actors {

class DeviceClip final : public GradientClip {
 public:
  /// Of what is trained of the table. Errors: the device's.
  static Result<std::unique_ptr<DeviceClip>> make(std::shared_ptr<kernels::Device> device,
                                                  const ParameterTable& table);
  ~DeviceClip() override;
  DeviceClip(const DeviceClip&) = delete;
  DeviceClip& operator=(const DeviceClip&) = delete;

  Result<double> squares(std::span<const nets::Gradient> gradients) override;
  std::span<const float> place(std::uint32_t tensor) const override {
    return {scaled_[tensor].values.data(), scaled_[tensor].values.size()};
  }
  Result<nets::Gradient> scaled(std::uint32_t tensor, const nets::Gradient& gradient,
                                float factor) override;

 private:
  struct Scaled {
    kernels::DeviceArray<float> values;
    std::unique_ptr<kernels::DeviceEvent> complete;
  };
  DeviceClip(std::shared_ptr<kernels::Device> device, std::size_t tensors)
      : device_(std::move(device)), scaled_(tensors) {}

  std::shared_ptr<kernels::Device> device_;
  std::unique_ptr<kernels::DeviceStream> stream_;
  kernels::DeviceArray<double> blocks_;  // of one gradient after the other
  kernels::DeviceArray<double> sums_;
  kernels::PinnedArray<double> sums_here_;
  std::vector<Scaled> scaled_;  // by tensor
};

}  // namespace sterna::actors
