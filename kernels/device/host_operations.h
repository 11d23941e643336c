// Products and convolutions of fixed shapes that the host device computes in a library's stead.
#pragma once

#include <memory>

#include "kernels/device/operation.h"

namespace sterna::kernels {

class HostOperation : public DeviceOperation {
 public:
  virtual void run(const OperationTensors& tensors) const = 0;
};

std::unique_ptr<DeviceOperation> host_product(const ProductShape& shape);
std::unique_ptr<DeviceOperation> host_convolution(const ConvolutionShape& shape);

}  // namespace sterna::kernels
