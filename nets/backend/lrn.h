// Local response normalization across channels (Krizhevsky et al., 2012).
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// y = x / (bias + alpha · Σ x²)^beta, the sum over the channels at most `radius` away.
/// TensorFlow's alpha: not divided by the number of channels in the sum, as oneDNN's and ONNX's
/// are.
struct LrnSpec {
  Shape input;  ///< {N, C, H, W}, channels last
  std::size_t radius = 0;
  float bias = 1;
  float alpha = 0;
  float beta = 0;
  Element element = Element::fp32;  ///< of x, y and their gradients
  bool backward = true;             ///< false: only forward passes are run
};

class Lrn {
 public:
  virtual ~Lrn() = default;
  virtual void forward(const Tensor& x, Tensor& y) = 0;
  virtual void backward(const Tensor& x, const Tensor& dy, Tensor& dx) = 0;
};

}  // namespace sterna::nets
