// Batch normalization (Ioffe and Szegedy, 2015): each channel's mean and variance made 0 and 1,
// then shifted, and scaled where wanted.
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// x and y {N, C, H, W} channels last; all others {C}.
struct BatchNormSpec {
  Shape input;
  float epsilon = 0.001F;
  bool scale = false;
  bool relu = false;                ///< y = max(0, y), of which what is no number stays so
  Element element = Element::fp32;  ///< of x, y and their gradients
  bool backward = true;             ///< false: only infer() is called
};

/// y = scale · (x - mean) / √(variance + epsilon) + shift. `scale` and its gradient are null where
/// there is none.
class BatchNorm {
 public:
  virtual ~BatchNorm() = default;
  /// With this batch's mean and (biased) variance, which are written.
  virtual void forward(const Tensor& x, const Tensor* scale, const Tensor& shift, Tensor& mean,
                       Tensor& variance, Tensor& y) = 0;
  /// With given ones.
  virtual void infer(const Tensor& x, const Tensor* scale, const Tensor& shift, const Tensor& mean,
                     const Tensor& variance, Tensor& y) = 0;
  /// After forward(), with what it read and wrote. `dx` may lie where `dy` lies.
  virtual void backward(const Tensor& x, const Tensor& dy, const Tensor* scale, const Tensor& shift,
                        const Tensor& mean, const Tensor& variance, Tensor& dx, Tensor* dscale,
                        Tensor& dshift) = 0;
};

}  // namespace sterna::nets
