// What of layers is rounded to bf16, on any device.
#pragma once

#include "kernels/device/device.h"

namespace sterna::kernels {

/// Errors say what differs from the CPU's roundings, or from what fp32s that were rounded lead to.
Result<void> rounds_layers_like_the_cpu(Device& device);

}  // namespace sterna::kernels
