// Launching a kernel of CUDA's by a call of its runtime, not by `<<<>>>`: the sources of kernels
// are C++ then, and the tests compile them for the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sterna::kernels {

/// Blocks of `threads` threads run `kernel` with a copy of `launch`; returns a cudaError_t.
template <class Launch>
int launch_kernel(void (*kernel)(Launch), std::uint32_t blocks, std::uint32_t threads,
                  const Launch& launch, cudaStream_t stream) {
  Launch copy = launch;
  void* arguments[] = {&copy};
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, stream);
}

}  // namespace sterna::kernels
