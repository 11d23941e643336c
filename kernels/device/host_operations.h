// Products and convolutions of fixed shapes that the host device computes in a library's stead.
#pragma once

#include <memory>

#include "kernels/device/operation.h"

namespace sterna::kernels {

/// What the host device's streams run when its turn comes.
class HostOperation : public DeviceOperation {
 public:
  virtual void run(const OperationTensors& tensors) const = 0;
};

/// Never null.
std::unique_ptr<DeviceOperation> host_product(const ProductShape& shape);
/// Null where paddings are not even, as a library may have no plan.
std::unique_ptr<DeviceOperation> host_convolution(const ConvolutionShape& shape);

}  // namespace sterna::kernels
