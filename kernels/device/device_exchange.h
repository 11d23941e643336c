// DeviceExchange: what each of several devices has comes to all of them, by NCCL among cards, else
// by copies. Nothing is added up on the way, so that no sum depends on who was first.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace sterna::kernels {

/// Of devices in one process, in their order. Used by one thread at a time.
class DeviceExchange {
 public:
  virtual ~DeviceExchange() = default;

  /// By what, for logs: "NCCL 2.28.9", "copies".
  virtual std::string name() const noexcept = 0;
  /// One device's end of it.
  struct Place {
    DeviceStream* stream = nullptr;  ///< of that device
    /// In its memory, as many parts as there are devices, one after the other.
    std::byte* parts = nullptr;
  };
  /// Puts it on all the streams. Part i, of `bytes`, is device i's own, and is there once its
  /// stream has come to this. Behind it each device has all parts, and its own is read by no other
  /// any more.
  virtual Result<void> gather(std::span<const Place> places, std::size_t bytes) noexcept = 0;

 protected:
  DeviceExchange() = default;
  DeviceExchange(const DeviceExchange&) = default;
  DeviceExchange& operator=(const DeviceExchange&) = default;
};

/// Among devices that are distinct and at least two by their library, where their kind has one;
/// else by copies. They outlive it. Errors: unavailable, where that library is not there or does
/// not start; it is not copied then.
Result<std::unique_ptr<DeviceExchange>> make_exchange(
    const std::vector<std::shared_ptr<Device>>& devices);

/// By copies from device to device. One device may be several of these, which NCCL's ranks may not:
/// it refuses two on one GPU. They outlive it.
Result<std::unique_ptr<DeviceExchange>> make_copying_exchange(
    const std::vector<std::shared_ptr<Device>>& devices);

}  // namespace sterna::kernels
