// Functions of single elements, in any layout.
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

struct EltwiseSpec {
  enum class Function { relu, sigmoid };  ///< max(0, x); 1 / (1 + e^-x)
  Function function = Function::relu;
  std::size_t count = 0;            ///< elements
  Element element = Element::fp32;  ///< of x, y and their gradients
  bool backward = true;             ///< false: only forward passes are run
};

/// Both in place; the gradient is a function of y.
class Eltwise {
 public:
  virtual ~Eltwise() = default;
  virtual void forward(Tensor& xy) = 0;
  virtual void backward(const Tensor& y, Tensor& dy) = 0;
};

}  // namespace sterna::nets
