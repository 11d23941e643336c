// The mean of each window of an image, channel by channel; padding counts only where that is
// wanted.
#pragma once

#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// x {N, C, H, W} and y {N, C, H', W'}, channels last.
struct AveragePoolSpec {
  Shape input;
  Window window;
  bool counts_padding = false;      ///< as zeros
  Element element = Element::fp32;  ///< of x, y and their gradients
  bool backward = true;             ///< false: only forward passes are run
};

class AveragePool {
 public:
  virtual ~AveragePool() = default;
  virtual void forward(const Tensor& x, Tensor& y) = 0;
  virtual void backward(const Tensor& dy, Tensor& dx) = 0;
};

}  // namespace sterna::nets
