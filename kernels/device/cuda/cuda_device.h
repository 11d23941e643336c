// A CUDA device behind the interfaces of kernels/device/device.h. Of the module alone.
#pragma once

#include <memory>

#include "kernels/device/device.h"

struct CUstream_st;

namespace sterna::kernels {

Result<std::unique_ptr<Device>> open_cuda_device(int index);

/// Puts a kernel on the stream that traps (trap.cu) and returns a cudaError_t: later calls report
/// it, and no work of the process's on that device is done any more.
int cuda_trap(CUstream_st* stream);

/// CUDA's own of a stream that such a device has made.
CUstream_st* stream_of(DeviceStream& stream);

}  // namespace sterna::kernels
