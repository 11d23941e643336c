// That a device has the CPU's bits, wherever the codec, its sums and its updates take place on it:
// the same checks for a GPU (gpu_tests) and for the host device (CI).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace sterna::kernels {

/// How much is checked: all, or what a CPU that plays the device has time for.
enum class Thoroughness { quick, full };

struct DeviceCheck {
  std::string name;  ///< what holds, as a sentence
  /// Says what differs first.
  std::function<Result<void>(Device& device, Thoroughness how)> run;
};

std::vector<DeviceCheck> codec_checks();

}  // namespace sterna::kernels
