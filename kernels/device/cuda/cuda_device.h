// A CUDA device behind the interfaces of kernels/device/device.h. Of the module alone.
#pragma once

#include <memory>

#include "kernels/device/device.h"

namespace sterna::kernels {

Result<std::unique_ptr<Device>> open_cuda_device(int index);

}  // namespace sterna::kernels
