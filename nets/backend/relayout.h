// Copies between the two layouts of a tensor.
#pragma once

#include "nets/tensor/tensor.h"

namespace sterna::nets {

struct RelayoutSpec {
  Shape shape;  ///< {N, C, H, W}
  Element element = Element::fp32;
  bool backward = true;  ///< false: only forward passes are run
};

/// From channels last to row-major {N, C, H, W}, or {N, C·H·W}, which is the same, and back.
class Relayout {
 public:
  virtual ~Relayout() = default;
  virtual void forward(const Tensor& channels_last, Tensor& row_major) = 0;
  virtual void backward(const Tensor& row_major, Tensor& channels_last) = 0;
};

}  // namespace sterna::nets
