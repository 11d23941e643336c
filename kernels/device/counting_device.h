// A device that only counts: what is made on it takes nothing of the device that it counts for, and
// nothing that is put on its streams is done. It tells what something would take of a device's
// memory by letting it be made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/device/device.h"

namespace sterna::kernels {

/// Its memory has no bytes: nobody may look at it, nor at what comes from it. Products and
/// convolutions are the other device's, so that they take what its library says.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(std::shared_ptr<Device> counted) : counted_(std::move(counted)) {}

  /// The most bytes of the other device's memory that would have been taken at any time.
  std::size_t most() const;
  /// How many were free there beside what its libraries take to plan. Errors: the other device's.
  Result<std::size_t> free_beside_libraries();

  DeviceFacts facts() const noexcept override { return counted_->facts(); }
  Result<void*> allocate(std::size_t bytes) noexcept override;
  void release(void* memory) noexcept override;
  Result<std::size_t> free_memory() noexcept override { return counted_->free_memory(); }
  std::size_t taken_by(std::size_t bytes) const noexcept override {
    return counted_->taken_by(bytes);
  }
  DeviceAllocations allocations() const noexcept override;
  /// Not cleared, as nothing will be there: so it takes none of the host's either, until somebody
  /// writes to it.
  Result<void*> allocate_on_host(std::size_t bytes) noexcept override;
  void release_on_host(void* memory) noexcept override;
  Result<std::unique_ptr<DeviceStream>> make_stream() noexcept override;
  Result<std::unique_ptr<DeviceEvent>> make_event(EventUse use) noexcept override;
  Result<bool> reach(Device& /*other*/) noexcept override { return true; }
  /// None: what a library takes for itself is not counted.
  Result<std::unique_ptr<DeviceExchange>> exchange(
      const std::vector<std::shared_ptr<Device>>& all) noexcept override;
  Result<double> seconds(DeviceEvent& /*from*/, DeviceEvent& /*to*/) noexcept override { return 0; }
  /// It does nothing that could fail.
  void fail_soon() noexcept override {}

 private:
  std::shared_ptr<Device> counted_;
  mutable std::mutex mutex_;
  std::map<void*, std::size_t> pieces_;
  std::size_t next_ = std::size_t{1} << 44U;  // the address of the next one: nobody is there
  std::size_t used_ = 0;
  std::size_t most_ = 0;
  std::size_t least_free_ = SIZE_MAX;  // after a plan was made
  DeviceAllocations given_;
};

}  // namespace sterna::kernels
