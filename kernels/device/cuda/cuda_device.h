// A CUDA device behind the interfaces of kernels/device/device.h. Of the module alone.
#pragma once

#include <memory>

#include "kernels/device/device.h"

struct CUstream_st;

namespace sterna::kernels {

Result<std::unique_ptr<Device>> open_cuda_device(int index);

/// CUDA's own of a stream that such a device has made.
CUstream_st* stream_of(DeviceStream& stream);

}  // namespace sterna::kernels
