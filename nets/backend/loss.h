// The loss of a net's logits, with its gradient by them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "nets/tensor/loss.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// Of logits {batch, classes}, row-major.
struct LossSpec {
  std::size_t batch = 0;
  std::size_t classes = 0;
  CrossEntropy cross_entropy = {};
  /// Set: the squared error against it, of cross_entropy.weight; labels are not looked at.
  std::optional<float> target = std::nullopt;
  Element element = Element::fp32;  ///< of the logits and their gradient
  std::size_t passes = 1;           ///< that make a step
};

class Loss {
 public:
  virtual ~Loss() = default;
  /// Of the next backward pass, which is number `pass` of its step; one a row, each below the
  /// number of classes.
  virtual void set_labels(std::span<const std::uint16_t> labels, std::size_t pass) = 0;
  /// Writes the gradient by the logits.
  virtual void backward(const Tensor& logits, Tensor& gradient) = 0;
  /// Of backward pass number `pass` of the step; waits for its last.
  virtual float loss(std::size_t pass) = 0;
};

}  // namespace sterna::nets
