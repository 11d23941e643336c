// A device that leaves out a part of what is put on it, to tell how long the rest takes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/device/device.h"

namespace sterna::kernels {

/// Another device, of whose layers what is done can be chosen: copies, events and the codec's
/// passes always are. Used by one thread at a time; outlives what it has made.
class PartialDevice final : public Device {
 public:
  enum class Does : std::uint8_t {
    all,
    libraries,  ///< products and convolutions of the device's library, no launches beside them
  };
  /// What streams were given, done or not; of a recording what was recorded, once.
  struct Given {
    std::uint64_t launches = 0;    ///< of which one may be several kernels
    std::uint64_t operations = 0;  ///< a library's
  };

  explicit PartialDevice(std::shared_ptr<Device> whole) : whole_(std::move(whole)) {}

  /// Of what comes from here on.
  void does(Does what) { does_ = what; }
  const Given& given() const { return given_; }

  DeviceFacts facts() const noexcept override { return whole_->facts(); }
  Result<void*> allocate(std::size_t bytes) noexcept override { return whole_->allocate(bytes); }
  void release(void* memory) noexcept override { whole_->release(memory); }
  Result<std::size_t> free_memory() noexcept override { return whole_->free_memory(); }
  std::size_t taken_by(std::size_t bytes) const noexcept override {
    return whole_->taken_by(bytes);
  }
  DeviceAllocations allocations() const noexcept override { return whole_->allocations(); }
  Result<void*> allocate_on_host(std::size_t bytes) noexcept override {
    return whole_->allocate_on_host(bytes);
  }
  void release_on_host(void* memory) noexcept override { whole_->release_on_host(memory); }
  Result<std::unique_ptr<DeviceStream>> make_stream() noexcept override;
  Result<std::unique_ptr<DeviceEvent>> make_event(EventUse use) noexcept override {
    return whole_->make_event(use);
  }
  Result<bool> reach(Device& /*other*/) noexcept override { return false; }
  Result<std::unique_ptr<DeviceExchange>> exchange(
      const std::vector<std::shared_ptr<Device>>& all) noexcept override;
  Result<double> seconds(DeviceEvent& from, DeviceEvent& to) noexcept override {
    return whole_->seconds(from, to);
  }
  void fail_soon() noexcept override { whole_->fail_soon(); }

 private:
  class Stream;
  std::shared_ptr<Device> whole_;
  Does does_ = Does::all;
  Given given_;
};

}  // namespace sterna::kernels
