// A net as a list of layers in the order they run, built by naming each layer's input.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "nets/backend/backend.h"
#include "nets/graph/layer.h"

namespace sterna::nets {

/// What a layer with weights and biases adds to the table of parameters: "NAME/weights" and
/// "NAME/biases". Biases never decay.
struct AffineSpec {
  std::string name;
  std::size_t outputs = 0;  ///< channels or units
  float stddev = 0;         ///< of the weights' truncated normal
  float bias = 0;           ///< what biases start as
  bool decay = true;        ///< weight decay on the weights
};

/// How long a layer's passes take at least.
struct Pace {
  std::chrono::nanoseconds forward{};
  std::chrono::nanoseconds backward{};
};

/// Owns activations, parameters and layers; the backend must outlive it. Building functions
/// return the layer's output, a reference that stays valid as long as the graph.
class Graph {
 public:
  explicit Graph(Backend& backend) : backend_(backend) {}

  Activation& input(Shape shape, Layout layout);
  Activation& convolution(Activation& x, const AffineSpec& spec, const Window& window);
  Activation& max_pool(Activation& x, const Window& window);
  /// In place: the output is `x` itself.
  Activation& relu(Activation& x);
  /// {N, C, H, W} channels last to row-major {N, C·H·W}: a unit's weights lie in the order channel,
  /// row, column, whatever the layout of activations.
  Activation& flatten(Activation& x);
  /// Of {N, …} row-major: whatever follows N is one row of inputs.
  Activation& inner_product(Activation& x, const AffineSpec& spec);
  /// A parameter that nothing depends on, with the same gradient in every step: 65,536
  /// numbers from a normal distribution truncated at two standard deviations, again and again.
  /// Its layer takes the time of `pace`, but no core.
  void fixed_gradient(const ParameterSpec& spec, float stddev, const Pace& pace);

  /// The net's input.
  Activation& first() { return activations_.front(); }
  std::size_t parameter_count() const { return parameters_.size(); }
  Parameter& parameter(std::size_t index) { return parameters_[index]; }
  void parameter_changed(std::size_t index) { owners_[index]->parameter_changed(); }

  /// Begins a forward pass.
  void restart() { next_ = 0; }
  /// Runs the layers, from where the last call stopped, whose parameters and those of all layers
  /// before are among the first `readable` ones. Returns whether all layers have run.
  bool forward(std::size_t readable);
  /// Needs the gradient of the last activation; runs the layers in reverse.
  void backward(Completion& completion);

 private:
  Activation& activation(Shape shape, Layout layout);
  Parameter& weights(const AffineSpec& spec, Shape shape);
  Parameter& biases(const AffineSpec& spec);
  bool is_input(const Activation& x) const { return &x == &activations_.front(); }

  void add(std::unique_ptr<Layer> layer);

  struct Placed {
    std::unique_ptr<Layer> layer;
    std::size_t parameters = 0;  // of it and all layers before
  };
  Backend& backend_;
  std::deque<Activation> activations_;  // deques: growing moves no element
  std::deque<Parameter> parameters_;
  std::vector<Placed> layers_;
  std::size_t next_ = 0;        // of the forward pass
  std::vector<Layer*> owners_;  // by parameter
};

}  // namespace sterna::nets
