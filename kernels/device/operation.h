// Products and convolutions of fixed shapes as a library of a device's computes them: planned once,
// then put on streams again and again. Where a device has no such library, layer_launch.h's plain
// ones stand in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/layers/layer_launch.h"

namespace sterna::kernels {

/// How fp32 numbers are multiplied: as they are, rounded to TF32's ten bits of mantissa first, or
/// as the bf16s that they were rounded to before. What is added is fp32.
enum class Arithmetic : std::uint8_t { fp32, tf32, bf16 };

/// A product as a launch of the same steps and sizes says it; its addresses do not matter, but
/// whether there is a bias does, and whether `out` is to be bf16s, of bf16s alone and without a
/// bias. One step of each of `a` and `b` is 1.
struct ProductShape {
  ProductLaunch launch;
  Arithmetic arithmetic = Arithmetic::fp32;
};

enum class ConvolutionPass : std::uint8_t {
  forward,  ///< out = y, of a = x and b = w
  data,     ///< out = dx, of a = dy and b = w
  weights,  ///< out = dw, of a = x and b = dy
};

/// Images and outputs lie channels last, weights {output channels, kernel rows, kernel columns,
/// input channels of a group}.
struct ConvolutionShape {
  Windows windows;
  std::uint32_t out_channels = 0;
  std::uint32_t groups = 1;
  ConvolutionPass pass = ConvolutionPass::forward;
  Arithmetic arithmetic = Arithmetic::fp32;
  bool to_bf16s = false;  ///< of bf16s: that is what is wanted, where the library has a plan for it
  friend bool operator==(const ConvolutionShape&, const ConvolutionShape&) = default;
};

/// Where they lie on the device, each at a multiple of 16 bytes.
struct OperationTensors {
  const void* a = nullptr;  ///< fp32s; bf16s where such are multiplied
  const void* b = nullptr;
  const float* bias = nullptr;  ///< of each column of a product; null: none
  void* out = nullptr;          ///< bf16s where the operation makes_bf16s(), else fp32s
  void* workspace = nullptr;    ///< of workspace() bytes, for nobody else until it is done
};

/// Put on a stream by DeviceStream::run(). Its bits are the same each time, on one kind of device
/// with one version of the library. The stream that made it outlives it.
class DeviceOperation {
 public:
  virtual ~DeviceOperation() = default;
  virtual std::size_t workspace() const noexcept = 0;  ///< bytes
  virtual std::string name() const noexcept = 0;       ///< the library's, and of its plan
  /// Whether what it makes are bf16s: of a convolution of bf16s whatever was wanted, as a library
  /// may have a plan for the one kind alone.
  virtual bool makes_bf16s() const noexcept { return false; }

 protected:
  DeviceOperation() = default;
  DeviceOperation(const DeviceOperation&) = default;
  DeviceOperation& operator=(const DeviceOperation&) = default;
};

}  // namespace sterna::kernels
