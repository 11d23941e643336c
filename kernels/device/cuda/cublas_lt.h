// Products by cuBLASLt. Of the module alone.
#pragma once

#include <memory>

#include "kernels/device/cuda/cuda_libraries.h"

namespace sterna::kernels {

/// A handle, for one stream of a device. Used by one thread at a time, and outlives its plans.
class CublasLt {
 public:
  /// Errors: unavailable, where the library is not there, or does not start.
  static Result<std::unique_ptr<CublasLt>> open(int device);

  CublasLt() = default;
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  virtual ~CublasLt() = default;
  /// Null: no plan for this shape.
  virtual Result<std::unique_ptr<DeviceOperation>> plan(const ProductShape& shape) = 0;
};

}  // namespace sterna::kernels
