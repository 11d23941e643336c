// Contenders on a device's streams, measured in turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "launcher/bench/rounds.h"

namespace sterna::launcher {

/// What is timed, by the name under which its times are kept: a pass on each of several buffers,
/// which are a round together. Passes return once they are on their way.
struct DeviceContender {
  std::string name;
  std::vector<std::function<Result<void>()>> passes;
};

/// The times of one pass of each contender, by the device's own clock; all are on `stream`, or
/// `stream` waits for them. One round more than `rounds` is made first and not counted. Errors: the
/// passes' and the device's.
Result<RoundTimes> measure_on(kernels::Device& device, kernels::DeviceStream& stream,
                              const std::vector<DeviceContender>& contenders, int rounds);

}  // namespace sterna::launcher
