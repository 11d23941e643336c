// What a device computes of a net's layers, on the host: each thread's own code, one thread after
// the other.
#pragma once

#include "kernels/layers/layer_launch.h"

namespace sterna::kernels {

void host_layer(const LayerLaunch& launch);

}  // namespace sterna::kernels
