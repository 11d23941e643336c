// A sum of which a ReLU follows, as at the end of a residual block, in one pass over memory.
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

struct RectifiedSumSpec {
  std::size_t count = 0;            ///< elements
  Element element = Element::fp32;  ///< of a, b, y and dy
  bool backward = true;             ///< false: only forward passes are run
};

/// Elements in any layout. A sum that is no number stays so.
class RectifiedSum {
 public:
  virtual ~RectifiedSum() = default;
  /// y = max(0, a + b); `y` may be `a`.
  virtual void forward(const Tensor& a, const Tensor& b, Tensor& y) = 0;
  /// dy = y > 0 ? dy : 0, which is the gradient by a and by b. Where y is no number it is either.
  virtual void backward(const Tensor& y, Tensor& dy) = 0;
  /// dy = y > 0 ? dy + part : 0: the same of a gradient of which a part lies apart.
  virtual void backward(const Tensor& y, const Tensor& part, Tensor& dy) = 0;
};

}  // namespace sterna::nets
