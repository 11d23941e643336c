// DeviceSums: the gradients of ranks on devices are added up on the first rank's, on a stream of
// its own that waits for each gradient, so that the backward passes go on meanwhile. It fetches
// those of other devices, and those that come before their turn, into memory of the sums' device.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/encode/average_sums.h"
#include "kernels/device/device_array.h"

namespace sterna::actors {

/// Ranks take turns on devices: what one has held was added before the next of its device gives a
/// gradient. What was made of an average has been waited for when the next start() of its tensor
/// comes.
class DeviceSums final : public AverageSums {
 public:
  /// Of tensors of so many elements, with none of those that have no gradient, and of ranks on
  /// these devices, rank i on device i mod their number. Errors: the devices'.
  static Result<std::unique_ptr<DeviceSums>> make(
      const std::vector<std::shared_ptr<kernels::Device>>& devices,
      std::span<const std::size_t> elements);
  ~DeviceSums() override;
  DeviceSums(const DeviceSums&) = delete;
  DeviceSums& operator=(const DeviceSums&) = delete;

  Result<Held> hold(std::uint32_t tensor, std::uint32_t place,
                    const nets::Gradient& gradient) override;
  bool reaches(std::uint32_t place) const override { return place % ends_.size() == 0; }
  Result<void> start(std::uint32_t tensor, const nets::Gradient& gradient) override;
  Result<void> add(std::uint32_t tensor, const nets::Gradient& gradient) override;
  std::span<const float> place(std::uint32_t tensor) const override {
    return {sums_[tensor].values.data(), sums_[tensor].values.size()};
  }
  Result<nets::Gradient> average(std::uint32_t tensor, std::uint32_t ranks) override;
  Result<void> finish(std::uint32_t place) override;

 private:
  struct Sum {
    kernels::DeviceArray<float> values;
    std::unique_ptr<kernels::DeviceEvent> complete;
    std::vector<kernels::DeviceArray<float>> fetched;  // by the device that they come from
  };
  DeviceSums(std::shared_ptr<kernels::Device> device, std::size_t tensors)
      : device_(std::move(device)), sums_(tensors) {}
  Result<void> put(std::uint32_t tensor, const nets::Gradient& gradient);

  std::shared_ptr<kernels::Device> device_;
  /// By device: all that was read of what its ranks gave. Used by the thread of the rank whose turn
  /// it is there.
  std::vector<std::unique_ptr<kernels::DeviceEvent>> ends_;
  std::mutex mutex_;  // ranks of several devices use the stream
  std::unique_ptr<kernels::DeviceStream> stream_;
  std::vector<Sum> sums_;
};

}  // namespace sterna::actors
