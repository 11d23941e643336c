// L2 weight decay: a part of the weights' gradients, and of the loss.
#pragma once

#include <cstddef>

#include "nets/tensor/tensor.h"

namespace sterna::nets {

struct DecaySpec {
  std::size_t most = 0;  ///< elements of the largest tensor of weights
  float decay = 0;       ///< wd of wd · Σ w² / 2
};

class Decay {
 public:
  virtual ~Decay() = default;
  /// A step begins.
  virtual void begin() = 0;
  /// gradient += wd · w, and Σ w² of them is added to the step's.
  virtual void add(const Tensor& weights, Tensor& gradient) = 0;
  /// The loss of all that was added since begin(): wd · Σ w² / 2. Waits for it.
  virtual float loss() = 0;
};

}  // namespace sterna::nets
