// Elements that are dropped at random, and the rest scaled, so that their sum stays the same.
#pragma once

#include "kernels/random/dropout.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

struct DropoutSpec {
  std::size_t count = 0;            ///< elements
  float keep = 1;                   ///< this part of them, below 1
  Element element = Element::fp32;  ///< of x, y and their gradients
};

/// Both passes are the same, with the same draw.
class Dropout {
 public:
  virtual ~Dropout() = default;
  /// What run() keeps from here on; not a part of a pass that is repeated.
  virtual void draw(const kernels::DropoutDraw& draw) = 0;
  /// y = x / keep where the last draw keeps it, else 0. `y` may be `x`.
  virtual void run(const Tensor& x, Tensor& y) = 0;
};

}  // namespace sterna::nets
