// A device that only counts: what is made on it takes nothing of the device that it counts for, and
// nothing that is put on its streams is done. It tells what something would take of a device's
// memory by letting it be made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device.h"

namespace sterna::kernels {

/// What a device's library has said of its convolutions, and how much it took meanwhile: for those
/// who count for one device again and again, as a plan may take it seconds. Any threads may use it.
class KnownPlans {
 public:
  /// What `ask` gives; of a shape that is known, what was said of it, which nothing can run.
  using Ask = std::function<Result<std::unique_ptr<DeviceOperation>>()>;
  Result<std::unique_ptr<DeviceOperation>> plan(const ConvolutionShape& shape, const Ask& ask);
  /// The least of what was ever free.
  std::size_t least_free(std::size_t free);

 private:
  struct Known {
    ConvolutionShape shape;
    bool none = false;  // there is no plan
    std::size_t workspace = 0;
    std::string name;
    bool makes_bf16s = false;
  };
  class Said;

  std::mutex mutex_;
  std::vector<Known> known_;
  std::size_t least_free_ = SIZE_MAX;
};

/// Its memory has no bytes: nobody may look at it, nor at what comes from it. Products and
/// convolutions are the other device's, so that they take what its library says.
class CountingDevice final : public Device {
 public:
  /// `plans`: of the other device.
  explicit CountingDevice(std::shared_ptr<Device> counted,
                          std::shared_ptr<KnownPlans> plans = std::make_shared<KnownPlans>())
      : counted_(std::move(counted)), plans_(std::move(plans)) {}

  /// The most bytes of the other device's memory that would have been taken at any time.
  std::size_t most() const;
  /// How many were free there beside what its libraries take to plan. Errors: the other device's.
  Result<std::size_t> free_beside_libraries();
  KnownPlans& plans() { return *plans_; }

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
  std::shared_ptr<KnownPlans> plans_;
  mutable std::mutex mutex_;
  std::map<void*, std::size_t> pieces_;
  std::size_t next_ = std::size_t{1} << 44U;  // the address of the next one: nobody is there
  std::size_t used_ = 0;
  std::size_t most_ = 0;
  DeviceAllocations given_;
};

}  // namespace sterna::kernels
