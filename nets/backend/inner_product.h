// A matrix of weights times each row of inputs, with a bias for each output or without.
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// y = x wᵀ + b with x {N, in}, w {out, in}, b {out}, y {N, out}, all row-major.
struct InnerProductSpec {
  std::size_t batch = 0;
  std::size_t in = 0;
  std::size_t out = 0;
  bool bias = true;
  bool input_gradient = true;       ///< false: backward_data is never called (a net's first layer)
  Element element = Element::fp32;  ///< of x, y and their gradients; w, b and theirs are fp32
  bool backward = true;             ///< false: only forward passes are run
};

/// b and db are null where there is no bias.
class InnerProduct {
 public:
  virtual ~InnerProduct() = default;
  /// w, which lies where it always does, has new values: what was derived from them, if anything,
  /// is stale, and without this call stays in use.
  virtual void weights_changed() {}
  virtual void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) = 0;
  /// Of the x that the last forward pass read.
  virtual void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) = 0;
  /// Right behind backward_parameters() of the same dy.
  virtual void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) = 0;
};

}  // namespace sterna::nets
