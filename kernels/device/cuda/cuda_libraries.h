// cuBLASLt and cuDNN behind kernels/device/operation.h. Of the module alone.
#pragma once

#include <memory>

#include "kernels/device/operation.h"
#include "runtime/base/result.h"

struct CUstream_st;

namespace sterna::kernels {

/// What a stream of CUDA's runs.
class CudaOperation : public DeviceOperation {
 public:
  virtual Result<void> run(const OperationTensors& tensors, CUstream_st* stream) noexcept = 0;
};

/// For one stream of a device; each is opened when it is first asked. Used by one thread at a time,
/// with what it gives: a handle of theirs has a state, and where its stream is being recorded, so
/// is all that it does.
class CudaLibraries {
 public:
  virtual ~CudaLibraries() = default;
  /// Null: it has no plan for this shape. Errors: unavailable, where the library is not there.
  virtual Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) = 0;
  virtual Result<std::unique_ptr<DeviceOperation>> convolution(const ConvolutionShape& shape) = 0;

 protected:
  CudaLibraries() = default;
  CudaLibraries(const CudaLibraries&) = default;
  CudaLibraries& operator=(const CudaLibraries&) = default;
};

std::unique_ptr<CudaLibraries> make_cuda_libraries(int device);

}  // namespace sterna::kernels
