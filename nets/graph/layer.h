// The parts of a graph: activations between layers, parameters within them, and what a layer does.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "nets/tensor/parameter.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

class Reading;

/// What flows between layers: a batch of values forward, the loss's gradient by them backward. May
/// lie over another, whose memory it then shares: written in place.
class Activation {
 public:
  Activation(Tensor value, Tensor gradient)
      : value_(std::move(value)), gradient_(std::move(gradient)) {}
  explicit Activation(Activation* under) : Activation(Tensor({0}), Tensor({0})) { under_ = under; }

  Tensor& value() { return under_ != nullptr ? under_->value() : value_; }
  /// Empty at the net's input, where nobody asks for it.
  Tensor& gradient() { return under_ != nullptr ? under_->gradient() : gradient_; }
  const Shape& shape() { return value().shape(); }

 private:
  friend class Graph;
  Tensor value_;
  Tensor gradient_;
  Activation* under_ = nullptr;
  Activation* over_ = nullptr;    // lies over this one
  Reading* last_read_ = nullptr;  // writes the gradient, to which earlier readings add theirs
};

/// One layer's use of an activation as its input. Where an activation has several readings, each
/// has a gradient of its own, and the graph adds them.
class Reading {
 public:
  explicit Reading(Activation& x) : x_(x) {}
  const Tensor& value() const { return x_.value(); }
  /// Where the layer writes the gradient by what it read; null where nobody asks for it.
  Tensor* gradient() {
    Tensor& written = part_ ? *part_ : x_.gradient();
    return written.size() > 0 ? &written : nullptr;
  }

 private:
  friend class Graph;
  Activation& x_;
  std::optional<Tensor> part_;  // where a later reading writes the activation's own
};

/// A parameter with its storage, row-major.
struct Parameter {
  explicit Parameter(ParameterSpec what)
      : spec(std::move(what)), value(spec.shape), gradient(spec.shape) {}
  ParameterSpec spec;
  Tensor value;
  Tensor gradient;
};

/// Hears of each parameter's gradient when it is complete.
class Completion {
 public:
  virtual ~Completion() = default;
  virtual void complete(std::size_t parameter) = 0;
};

/// What a forward pass is for.
enum class Mode { training, evaluation };

/// One step of a net. It refers to its readings, its output and its parameters, which the graph
/// owns. The backward pass may use what was read, but what was written only where it was written in
/// place: another layer may lie over it.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(Mode mode) = 0;
  /// From the gradient of the output: first the parameters' gradients, each reported as it is
  /// done, so that sending them overlaps with the rest; then those of what was read.
  virtual void backward(Completion& completion) = 0;
  /// A parameter of this layer has new values.
  virtual void parameter_changed() {}
};

}  // namespace sterna::nets
