// Convolution of images by windows, with a bias for each channel or without.
#pragma once

#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// x {N, C, H, W} and y {N, K, H', W'} channels last, w {K, C / groups, height, width of the
/// window} and b {K} row-major.
struct ConvolutionSpec {
  Shape input;
  std::size_t out_channels = 0;
  Window window;
  std::size_t groups = 1;  ///< output channel k sees the input channels of group k · groups ÷ K
  bool bias = true;
  bool input_gradient = true;       ///< false: backward_data is never called (a net's first layer)
  Element element = Element::fp32;  ///< of x, y and their gradients; w, b and theirs are fp32
  bool backward = true;             ///< false: only forward passes are run
};

/// b and db are null where there is no bias.
class Convolution {
 public:
  virtual ~Convolution() = default;
  /// w, which lies where it always does, has new values: what was derived from them is stale, and
  /// without this call stays in use.
  virtual void weights_changed() = 0;
  virtual void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) = 0;
  /// Of the x that the last forward pass read.
  virtual void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) = 0;
  /// Right behind backward_parameters() of the same dy.
  virtual void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) = 0;
};

}  // namespace sterna::nets
