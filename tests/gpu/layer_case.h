// What a device computes of a net's layers, and the same by plain loops: products, elements,
// pixels, dropout, squared errors and decay bit for bit, the others to within their rounding.
#pragma once

#include "kernels/device/device.h"

namespace sterna::kernels {

Result<void> computes_layers_like_the_cpu(Device& device);

}  // namespace sterna::kernels
