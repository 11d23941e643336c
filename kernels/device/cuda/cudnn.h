// Convolutions by cuDNN's graphs. Of the module alone.
#pragma once

#include <memory>

#include "kernels/device/cuda/cuda_libraries.h"

namespace sterna::kernels {

/// A handle, for one stream of a device. Used by one thread at a time, with the plans it gives.
class Cudnn {
 public:
  /// Errors: unavailable, where the library or one of those that it consists of is not there.
  static Result<std::unique_ptr<Cudnn>> open(int device);

  Cudnn() = default;
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;
  virtual ~Cudnn() = default;
  /// Null: no plan for this shape whose bits are always the same.
  virtual Result<std::unique_ptr<DeviceOperation>> plan(const ConvolutionShape& shape) = 0;
};

}  // namespace sterna::kernels
