// The parts of a graph: activations between layers, parameters within them, and what a layer does.
#pragma once

#include <cstddef>
#include <utility>

#include "nets/tensor/parameter.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// What flows between layers: a batch of values forward, the loss's gradient by them backward.
struct Activation {
  Tensor value;
  Tensor gradient;  ///< empty at the net's input, where nobody asks for it
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

/// One step of a net. It refers to its activations and parameters, which the graph owns.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward() = 0;
  /// From the gradient of the output: first the parameters' gradients, each reported as it is
  /// done, so that sending them overlaps with the rest; then the input's.
  virtual void backward(Completion& completion) = 0;
  /// A parameter of this layer has new values.
  virtual void parameter_changed() {}
};

}  // namespace sterna::nets
