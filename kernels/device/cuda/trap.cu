// A fault of a device, on purpose (Device::fail_soon()).
#include "kernels/device/cuda/cuda_device.h"
#include "kernels/isa/launch_cuda.h"

namespace sterna::kernels {
namespace {

struct TrapLaunch {};

__global__ void __launch_bounds__(1) trap(const TrapLaunch) { __trap(); }

}  // namespace

int cuda_trap(CUstream_st* stream) { return launch_kernel(trap, 1, 1, TrapLaunch{}, stream); }

}  // namespace sterna::kernels
