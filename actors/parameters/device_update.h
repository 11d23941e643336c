// DeviceUpdate: a tensor's values and slots on a device, which steps them from one fp32 gradient at
// a time.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "actors/parameters/update_rule.h"
#include "kernels/device/device_array.h"
#include "kernels/device/tables.h"

namespace sterna::actors {

/// Used by one thread at a time.
class DeviceUpdate {
 public:
  /// Of `elements` values, which lie there. Makes all that steps take, and waits until it is there.
  /// Errors: the device's.
  static Result<DeviceUpdate> make(kernels::Device& device, kernels::DeviceStream& stream,
                                   const UpdateRule& rule, kernels::DeviceRule by,
                                   std::size_t elements, float* values);
  DeviceUpdate(DeviceUpdate&&) = default;
  DeviceUpdate& operator=(DeviceUpdate&&) = delete;
  /// Waits until what was sent last has left.
  ~DeviceUpdate();

  /// Puts a step on the stream, whose gradient lies on the device. Errors: the device's.
  Result<void> step(const kernels::UpdateOptions& options, std::span<const float> gradient,
                    kernels::DeviceStream& stream);
  /// On the device, one after the other.
  float* slots() { return slots_.data(); }

 private:
  /// All that the host sends for one step.
  struct Sent {
    kernels::DeviceStep step;
    kernels::DevicePacket gradient;
  };
  DeviceUpdate() = default;

  std::unique_ptr<kernels::DeviceEvent> sent_;  // what was sent last has left
  kernels::PinnedArray<Sent> sent_here_;
  kernels::DeviceArray<Sent> sent_there_;
  kernels::DeviceArray<float> slots_;
  kernels::DeviceArray<kernels::UpdateWork> work_;
  kernels::UpdateLaunch launch_;
};

}  // namespace sterna::actors
