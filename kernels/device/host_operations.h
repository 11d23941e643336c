// Products and convolutions of fixed shapes that the host device computes in a library's stead.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "kernels/device/operation.h"

namespace sterna::kernels {

/// The nearest number with ten bits of mantissa, ties away from zero, as PTX's cvt.rna.tf32.f32
/// says, denormals too; what lies beyond the largest becomes infinite, and NaNs stay NaNs.
constexpr float to_tf32(float value) {
  constexpr std::uint32_t kDropped = 0x1FFF;  // of the mantissa's 23 bits
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return value;
  return std::bit_cast<float>((bits + (kDropped + 1) / 2) & ~kDropped);
}

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
