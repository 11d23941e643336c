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

  /// What each device has to scatter, in bytes: `count` packets, each `stride` behind the one
  /// before, and each of as many slices of `slice` as there are devices.
  struct Packets {
    std::size_t count = 0;
    std::size_t stride = 0;
    std::size_t slice = 0;
  };
  /// One device's end of it.
  struct Scattered {
    DeviceStream* stream = nullptr;   ///< of that device
    const std::byte* from = nullptr;  ///< its own packets
    /// What comes from the others: `count` slices from each, the devices in their order.
    std::byte* to = nullptr;
  };
  /// Where in `to` of device `at`, among all others, lie the slices from device `from`.
  static constexpr std::size_t place_of(std::size_t from, std::size_t at) {
    return from < at ? from : from - 1;
  }
  /// Puts it on all the streams. Slice i of each packet comes to device i, but from its own, where
  /// it lies already. Packets are there once their device's stream has come to this. Behind it each
  /// device has its slices, and its packets are read by no other any more.
  virtual Result<void> scatter(std::span<const Scattered> all, const Packets& packets) noexcept = 0;

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
