// max(0, x), in any layout.
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

struct ReluSpec {
  std::size_t count = 0;  ///< elements
};

/// Both in place: the gradient passes where y > 0.
class Relu {
 public:
  virtual ~Relu() = default;
  virtual void forward(Tensor& xy) = 0;
  virtual void backward(const Tensor& y, Tensor& dy) = 0;
};

}  // namespace sterna::nets
