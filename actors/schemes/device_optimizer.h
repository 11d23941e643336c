// DeviceOptimizer: a LocalOptimizer whose slots lie on a device, where it steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/parameters/device_update.h"
#include "actors/schemes/window_steps.h"
#include "nets/net.h"

namespace sterna::actors {

/// Of one net, and used by one thread at a time.
class DeviceOptimizer {
 public:
  /// Errors: as UpdateRule's.
  static Result<DeviceOptimizer> make(const JobConfig& job, std::uint32_t rank,
                                      std::shared_ptr<const ParameterTable> table,
                                      std::shared_ptr<kernels::Device> device);

  /// Whether a tensor is stepped: neither a statistic nor frozen.
  bool steps(std::uint32_t tensor) const;
  /// Makes all that steps of a tensor take, whose values lie there, and waits until it is there.
  /// Errors: the device's.
  Result<void> plan(std::uint32_t tensor, float* values, kernels::DeviceStream& stream);
  /// Puts the step from a planned tensor's gradient on the stream. Errors: the device's.
  Result<void> step(const RankStep& step, std::uint32_t tensor, std::span<const float> gradient,
                    kernels::DeviceStream& stream);
  /// As LocalOptimizer's.
  float rate(const RankStep& step) const { return host_.rate(step); }

  /// The slots of planned tensors, read from the device. Errors: the device's.
  Result<std::vector<KeptArray>> slots(nets::Net& net) { return copy_slots(net, false); }
  /// They are what stands in the arrays that slots() gave. Errors: the device's.
  Result<void> restore(nets::Net& net);

 private:
  Result<std::vector<KeptArray>> copy_slots(nets::Net& net, bool to_device);

  LocalOptimizer host_;  // its numbers; of the slots what slots() gives
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<kernels::Device> device_;
  kernels::DeviceRule rule_ = {};
  std::vector<std::optional<DeviceUpdate>> tensors_;  // those that are planned
};

}  // namespace sterna::actors
