// The parts of a graph: activations between layers, parameters within them, and what a layer does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "nets/tensor/parameter.h"
#include "nets/tensor/step_draw.h"
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
  Activation& root() { return under_ != nullptr ? under_->root() : *this; }
  const Activation& root() const { return under_ != nullptr ? under_->root() : *this; }
  Tensor value_;
  Tensor gradient_;
  Activation* under_ = nullptr;
  Activation* over_ = nullptr;    // lies over this one
  Reading* last_read_ = nullptr;  // writes the gradient, to which earlier readings add theirs
  std::size_t made_by_ = 0;       // the layer
  bool kept_ = false;             // for that layer's backward pass
};

/// What of its input a layer uses: in its backward pass, too, unless it says otherwise.
enum class Uses { forward, both };

/// One layer's use of an activation as its input. Where an activation has several readings, each
/// has a gradient of its own, and the graph adds them.
class Reading {
 public:
  Reading(Activation& x, std::size_t layer, Uses uses) : x_(x), layer_(layer), uses_(uses) {}
  const Tensor& value() const { return x_.value(); }
  /// Where the layer writes the gradient by what it read; null where nobody asks for it.
  Tensor* gradient() {
    Tensor& written = part_ ? *part_ : x_.gradient();
    return written.size() > 0 ? &written : nullptr;
  }

 private:
  friend class Graph;
  Activation& x_;
  std::size_t layer_;
  Uses uses_;
  std::optional<Tensor> part_;  // where a later reading writes the activation's own
  bool left_ = false;           // the activation's layer adds it, not the graph
};

/// A parameter with its storage, row-major.
struct Parameter {
  explicit Parameter(ParameterSpec what)
      : spec(std::move(what)),
        value(Tensor::unbound(spec.shape)),
        gradient(Tensor::unbound(spec.shape)) {}
  ParameterSpec spec;
  Tensor value;
  /// Of a statistic: this batch's.
  Tensor gradient;
};

/// Hears of the parameters whose gradients are complete.
class Completion {
 public:
  virtual ~Completion() = default;
  /// Of those that one pass has completed; null: none. What says when they are there is then one
  /// for all.
  virtual void complete(std::span<Parameter* const> parameters) = 0;
  void complete(std::initializer_list<Parameter*> parameters) {
    complete(std::span<Parameter* const>(parameters.begin(), parameters.size()));
  }
};

enum class Mode { training, evaluation };

/// What a forward pass is for, and what its random draws depend on: see StepDraw.
struct Pass {
  Mode mode = Mode::training;
  StepDraw draw = {};
};

/// One step of a net. It refers to its readings, its output and its parameters, which the graph
/// owns. The backward pass may use what was read, unless it was read for the forward pass only, but
/// what was written only where it was written in place or asked for as kept: other tensors may lie
/// where it was.
class Layer {
 public:
  virtual ~Layer() = default;
  /// What of a pass is not the same each time, before its layers run.
  virtual void begin(const Pass& /*pass*/) {}
  virtual void forward(const Pass& pass) = 0;
  /// From the gradient of the output: first the parameters' gradients, each reported as it is
  /// done, so that sending them overlaps with the rest; then those of what was read. It may write
  /// over the output's only in place, where nobody asks for these, or where it said
  /// Graph::hand_gradient_on().
  virtual void backward(Completion& completion) = 0;
  /// Where it said Graph::take_part(): what backward() is to add to the output's gradient first.
  virtual void take_part(Tensor& /*part*/) {}
  /// A parameter of this layer has new values.
  virtual void parameter_changed(const Parameter& /*parameter*/) {}
  /// Its tensors have memory now.
  virtual void ready() {}
};

}  // namespace sterna::nets
