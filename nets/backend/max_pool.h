// The maximum of each window of an image.
#pragma once

#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// Maximum over windows, of at most 256 pixels, of x {N, C, H, W}, channels last; padding never
/// wins. Of equal values the first in row-major order takes the gradient, and what is no number is
/// above all. `backward` belongs to the last `forward`.
struct MaxPoolSpec {
  Shape input;
  Window window;
  Element element = Element::fp32;  ///< of x, y and their gradients
  bool backward = true;             ///< false: only forward passes are run
};

class MaxPool {
 public:
  virtual ~MaxPool() = default;
  virtual void forward(const Tensor& x, Tensor& y) = 0;
  virtual void backward(const Tensor& dy, Tensor& dx) = 0;
};

}  // namespace sterna::nets
