// A net as a list of layers in the order they run, each reading what others before it wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nets/backend/backend.h"
#include "nets/graph/layer.h"
#include "nets/graph/memory_plan.h"
#include "nets/graph/node.h"

namespace sterna::nets {

struct GraphOptions {
  /// Activations whose lives do not meet, and gradients that are handed on, share memory, which is
  /// there after finish(); else each has its own from the start, to be looked at after a pass.
  bool shares_memory = false;
  /// Else there are no gradients, and only evaluation passes.
  bool trains = true;
  /// Activations' and their gradients'. Parameters and theirs are fp32 always.
  Element element = Element::fp32;
};

/// Owns activations, parameters and layers; the backend must outlive it. References to them stay
/// valid as long as the graph.
///
/// The function that makes a layer asks first for what it reads, its parameters and its output, in
/// this order, and then adds the layer: see nets/layers.
class Graph {
 public:
  explicit Graph(Backend& backend, GraphOptions options = {})
      : backend_(backend), options_(options) {}

  Backend& backend() { return backend_; }
  bool trains() const { return options_.trains; }
  /// The net's input.
  Activation& input(Shape shape, Layout layout);
  Reading& read(Activation& x, Uses uses = Uses::both);
  Parameter& parameter(ParameterSpec spec);
  /// `kept`: the layer's backward pass uses what it wrote.
  Activation& output(Shape shape, Layout layout, bool kept = false);
  /// An output like `x`, which has been read for this layer: in place as long as that is its only
  /// reading.
  Activation& output_over(Activation& x);
  /// The layer that is being made hands the gradient of its output, which it may write over, to all
  /// that it reads, as it is: where nothing is in the way these lie in one place, and a copy from
  /// the one to the other has nothing to do.
  void hand_gradient_on() { hands_on_ = true; }
  /// Where the output of the layer that is being made has several readings, it adds what the first
  /// has given to the others' sum itself: finish() gives it that.
  void take_part() { takes_part_ = true; }
  /// The layer, after all it refers to. `what` it does in evaluation, between the activations and
  /// with the parameters that were asked for since the layer before; without that, it does nothing
  /// there.
  template <class MadeLayer>
  MadeLayer& add(std::unique_ptr<MadeLayer> layer,
                 const std::optional<NodeSpec>& what = std::nullopt) {
    MadeLayer& made = *layer;
    place(std::move(layer), what);
    return made;
  }
  /// What evaluation does, in its order.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Each dropout layer's own number: 0, 1, …
  std::uint32_t next_dropout() { return dropouts_++; }
  /// The layers that `build` adds run in training only; what it returns.
  template <class Build>
  decltype(auto) training_only(Build build) {
    const bool before = std::exchange(training_only_, true);
    struct Restore {
      bool& value;
      bool before;
      ~Restore() { value = before; }
    } const restore{training_only_, before};
    return build();
  }
  /// Where memory will lie that is shared, once all layers are there.
  ActivationMemory memory();
  /// Gives it to them, and says the same. Without memory that is shared nothing is left to do.
  ActivationMemory finish();

  /// The net's input.
  Activation& first() { return activations_.front(); }
  /// The table: what is trained, in the order in which it was asked for, and then the statistics.
  std::size_t parameter_count() const { return trained_.size() + statistics_.size(); }
  std::size_t trained_count() const { return trained_.size(); }
  Parameter& parameter(std::size_t index) {
    return index < trained_.size() ? trained_[index].parameter
                                   : statistics_[index - trained_.size()].parameter;
  }
  /// Its place in the table.
  std::size_t index_of(const Parameter& parameter) const;
  void parameter_changed(std::size_t index);

  /// Who hears, in each training pass, what has come of a layer with parameters: what it wrote, or
  /// what the layers have made of that alone, up to the next one with parameters. `layer`: the
  /// first part of its parameters' names. Null: nobody.
  using Watcher = std::function<void(const std::string& layer, const Tensor& value)>;
  void watch(Watcher watcher) { watcher_ = std::move(watcher); }

  /// Begins a forward pass.
  void restart(const Pass& pass);
  /// Runs the layers, from where the last call stopped, whose trained parameters and those of all
  /// layers before are among the first `readable` ones; where statistics are used, they must be
  /// readable, too. Returns whether all layers have run.
  bool forward(std::size_t readable);
  /// As forward() through all layers, by somebody who has put their work on its way himself.
  void pass_forward() { next_ = layers_.size(); }
  /// The forward pass begins anew, as the same pass.
  void rewind() { next_ = 0; }
  /// Whether passes of one mode are the same but for what lies in memory.
  bool repeats() const { return !watcher_; }
  /// Whether no layer of the forward pass has run.
  bool begins() const { return next_ == 0; }
  /// Runs the layers in reverse. Where several read one activation, their gradients are added, the
  /// last reader's first.
  void backward(Completion& completion);

 private:
  struct Placed {
    std::unique_ptr<Layer> layer;
    std::size_t parameters = 0;      // that are trained: of it and all layers before
    std::vector<Reading*> readings;  // by it
    bool training_only = false;
    bool hands_on = false;    // hand_gradient_on()
    bool takes_part = false;  // take_part()
    Activation* output = nullptr;
    std::string watched = {};  // the layer whose activation it writes last
  };
  struct Owned {
    explicit Owned(ParameterSpec spec) : parameter(std::move(spec)) {}
    Parameter parameter;
    Layer* owner = nullptr;
  };
  struct Lives;
  void place(std::unique_ptr<Layer> layer, const std::optional<NodeSpec>& what);
  void lift(Activation& over);
  Tensor made(Shape shape, Layout layout) const;
  Tensor like(const Tensor& tensor) const { return made(tensor.shape(), tensor.layout()); }
  Lives lives();
  void leave_parts();
  void share_handed_on(const Placed& placed, Lives& lives);
  std::size_t written_again(const Reading& reading) const;
  /// When a part is added to the rest.
  std::size_t part_lasts(const Reading& reading) const {
    return backward_moment(reading.left_ ? reading.x_.made_by_ : reading.layer_);
  }
  std::size_t backward_moment(std::size_t layer) const { return 2 * layers_.size() - 1 - layer; }
  void name_watched();

  Backend& backend_;
  GraphOptions options_;
  std::deque<Activation> activations_;  // deques: growing moves no element
  std::deque<Reading> readings_;
  std::deque<Owned> trained_;
  std::deque<Owned> statistics_;
  std::vector<Reading*> unplaced_;  // of the layer that is being made
  std::vector<Parameter*> unplaced_parameters_;
  std::vector<Node> nodes_;
  std::vector<Placed> layers_;
  std::uint32_t dropouts_ = 0;
  bool training_only_ = false;  // are the layers that are being made
  bool hands_on_ = false;       // does the next of them
  bool takes_part_ = false;     // likewise
  std::shared_ptr<std::byte> arena_;
  std::size_t next_ = 0;  // of the forward pass
  Pass pass_;
  Watcher watcher_;
};

}  // namespace sterna::nets
