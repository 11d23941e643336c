// What computes: a Backend makes operations for fixed shapes, and layers run them.
//
// An operation is made once and run many times; it owns whatever its library needs (primitives,
// reordered weights, workspaces). In the comments x is the input, y the output, d? the gradient of
// the loss by ?, and N, C, H, W are batch, channels, height and width. Tensors have exactly the
// shapes and layouts that the operation was made for; whoever calls sees to that.
//
// A backend and its operations belong to one thread at a time; several backends in several threads
// do not disturb each other. Operations must not outlive their backend. What a library throws
// passes through: Net turns it into an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// x {N, C, H, W} and y {N, K, H', W'} channels last, w {K, C, kernel, kernel} and b {K} row-major.
struct ConvolutionSpec {
  Shape input;
  std::size_t out_channels = 0;
  Window window;
  bool input_gradient = true;  ///< false: backward_data is never called (a net's first layer)
};

class Convolution {
 public:
  virtual ~Convolution() = default;
  /// w has new values: what was derived from them is stale.
  virtual void weights_changed() = 0;
  virtual void forward(const Tensor& x, const Tensor& w, const Tensor& b, Tensor& y) = 0;
  virtual void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& db) = 0;
  virtual void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) = 0;
};

/// y = x wᵀ + b with x {N, in}, w {out, in}, b {out}, y {N, out}, all row-major.
struct InnerProductSpec {
  std::size_t batch = 0;
  std::size_t in = 0;
  std::size_t out = 0;
  bool input_gradient = true;
};

class InnerProduct {
 public:
  virtual ~InnerProduct() = default;
  virtual void forward(const Tensor& x, const Tensor& w, const Tensor& b, Tensor& y) = 0;
  virtual void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& db) = 0;
  virtual void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) = 0;
};

/// Maximum over windows of x {N, C, H, W}, channels last; padding never wins. Of equal values the
/// first in row-major order takes the gradient. `backward` belongs to the last `forward`.
struct MaxPoolSpec {
  Shape input;
  Window window;
};

class MaxPool {
 public:
  virtual ~MaxPool() = default;
  virtual void forward(const Tensor& x, Tensor& y) = 0;
  virtual void backward(const Tensor& dy, Tensor& dx) = 0;
};

/// max(0, x) in place, in any layout; the gradient passes where y > 0, in place too.
class Relu {
 public:
  virtual ~Relu() = default;
  virtual void forward(Tensor& xy) = 0;
  virtual void backward(const Tensor& y, Tensor& dy) = 0;
};

/// Copies between the two layouts of one {N, C, H, W}, or from channels last to row-major
/// {N, C·H·W} and back.
class Relayout {
 public:
  virtual ~Relayout() = default;
  virtual void forward(const Tensor& channels_last, Tensor& row_major) = 0;
  virtual void backward(const Tensor& row_major, Tensor& channels_last) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::unique_ptr<Convolution> convolution(const ConvolutionSpec& spec) = 0;
  virtual std::unique_ptr<InnerProduct> inner_product(const InnerProductSpec& spec) = 0;
  virtual std::unique_ptr<MaxPool> max_pool(const MaxPoolSpec& spec) = 0;
  virtual std::unique_ptr<Relu> relu(std::size_t count) = 0;
  /// `shape` is {N, C, H, W}.
  virtual std::unique_ptr<Relayout> relayout(const Shape& shape) = 0;
  /// Copies between formats since the backend was made: work that is not arithmetic.
  virtual std::uint64_t reorders() const = 0;
};

}  // namespace sterna::nets
