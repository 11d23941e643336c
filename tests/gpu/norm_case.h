// What a device computes of a net's normalizations, beside their definitions in fp64.
#pragma once

#include "kernels/device/device.h"

namespace sterna::kernels {

Result<void> normalizes_as_defined(Device& device);

}  // namespace sterna::kernels
