// A net as a list of layers in the order they run, each reading what others before it wrote.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "nets/backend/backend.h"
#include "nets/graph/layer.h"

namespace sterna::nets {

/// Owns activations, parameters and layers; the backend must outlive it. References to them stay
/// valid as long as the graph.
///
/// The function that makes a layer asks first for what it reads, its parameters and its output, in
/// this order, and then adds the layer: see nets/layers.
class Graph {
 public:
  explicit Graph(Backend& backend) : backend_(backend) {}

  Backend& backend() { return backend_; }
  /// The net's input.
  Activation& input(Shape shape, Layout layout);
  Reading& read(Activation& x);
  Parameter& parameter(ParameterSpec spec);
  Activation& output(Shape shape, Layout layout);
  /// An output like `x`, which has been read for this layer: in place as long as that is its only
  /// reading.
  Activation& output_over(Activation& x);
  /// The layer, after all it refers to.
  template <class MadeLayer>
  MadeLayer& add(std::unique_ptr<MadeLayer> layer) {
    MadeLayer& made = *layer;
    place(std::move(layer));
    return made;
  }

  /// The net's input.
  Activation& first() { return activations_.front(); }
  std::size_t parameter_count() const { return parameters_.size(); }
  Parameter& parameter(std::size_t index) { return parameters_[index]; }
  void parameter_changed(std::size_t index) { owners_[index]->parameter_changed(); }

  /// Begins a forward pass.
  void restart(Mode mode);
  /// Runs the layers, from where the last call stopped, whose parameters and those of all layers
  /// before are among the first `readable` ones. Returns whether all layers have run.
  bool forward(std::size_t readable);
  /// Runs the layers in reverse. Where several read one activation, their gradients are added, the
  /// last reader's first.
  void backward(Completion& completion);

 private:
  struct Placed {
    std::unique_ptr<Layer> layer;
    std::size_t parameters = 0;      // of it and all layers before
    std::vector<Reading*> readings;  // by it
  };
  void place(std::unique_ptr<Layer> layer);
  static void lift(Activation& over);

  Backend& backend_;
  std::deque<Activation> activations_;  // deques: growing moves no element
  std::deque<Reading> readings_;
  std::deque<Parameter> parameters_;
  std::vector<Reading*> unplaced_;  // of the layer that is being made
  std::vector<Placed> layers_;
  std::size_t next_ = 0;  // of the forward pass
  Mode mode_ = Mode::training;
  std::vector<Layer*> owners_;  // by parameter
};

}  // namespace sterna::nets
