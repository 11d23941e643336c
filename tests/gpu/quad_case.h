// What of layers is read and written four numbers at once, on any device.
#pragma once

#include "kernels/device/device.h"

namespace sterna::kernels {

/// Errors say what differs from the same numbers at places where they are taken one by one.
Result<void> takes_quads_like_single_numbers(Device& device);

}  // namespace sterna::kernels
