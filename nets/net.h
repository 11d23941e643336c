// A net that trains: parameters in, images and labels in, gradients out as they complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nets/backend/memory.h"
#include "nets/graph/memory_plan.h"
#include "nets/held_batch.h"
#include "nets/net_options.h"
#include "nets/tensor/gradient.h"
#include "nets/tensor/parameter.h"
#include "nets/tensor/pixels.h"
#include "nets/tensor/step_draw.h"
#include "nets/tensor/tensor.h"
#include "runtime/base/result.h"

namespace sterna::kernels {
class DeviceStream;
}  // namespace sterna::kernels

namespace sterna::nets {

class Decay;
class LossHead;
class ParameterVersions;
class RepeatedPass;
struct NetHeads;

/// Where the backward pass puts gradients.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// Called on the computing thread the moment the gradient of parameter `index` is complete, or on
  /// a device on its way, weight decay included. Row-major like the parameter, where the backend
  /// wrote it: not copied, and valid until the net's next forward or backward pass.
  virtual void gradient(std::size_t index, const Gradient& gradient) = 0;
};

/// Used by one thread at a time; several nets in several threads do not disturb each other.
/// Equal inputs give equal bits in every process with the same number of threads, instruction set
/// and oneDNN. Parameters start as zeros: see initialize().
class Net {
 public:
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  /// The table of parameters: layers in forward order, weights before biases, and then the
  /// statistics, which training neither reads nor trains: their "gradient" is the batch's.
  const std::vector<ParameterSpec>& parameters() const { return specs_; }
  /// How many of them are trained: all but the statistics.
  std::size_t trained() const;
  /// Of one image: {channels, height, width}.
  std::vector<std::size_t> input_shape() const;
  std::size_t classes() const;
  std::size_t batch() const { return options_.batch; }
  /// Images that pass through it at once: all of a batch, or a micro-batch.
  std::size_t images_per_pass() const { return nets::images_per_pass(options_); }

  /// Whether parameters and gradients lie in the host's memory: else on a device.
  bool on_host() const { return backend_->memory().on_host(); }
  /// The values of parameter `index`, 64-byte aligned, where they lie. On the host, write them
  /// between steps, then call parameters_changed(index).
  std::span<float> parameter(std::size_t index);
  /// Where the gradient of parameter `index` will lie in each step, of a net that trains.
  std::span<const float> gradient_place(std::size_t index) const;
  /// What fails of it on a device is the error of the next pass.
  void parameters_changed(std::size_t index);
  /// Writes and reads values of parameter `index` from `first` on, wherever they lie. write() is
  /// also for another thread than the one that computes, of parameters above the lowest whose
  /// gradient was handed out: their next version, which parameters_changed() is called for then. On
  /// a device it waits there for what still reads the one before. Errors: the device's.
  Result<void> write_parameter(std::size_t index, std::size_t first, std::span<const float> values);
  /// The same on a device, by work on the stream that writes: ParameterVersions::write_by().
  Result<void> update_parameter(
      std::size_t index,
      const std::function<Result<void>(kernels::DeviceStream& stream, float* values)>& work);
  Result<void> read_parameter(std::size_t index, std::size_t first, std::span<float> out);

  struct Loss {
    float cross_entropy = 0;   ///< mean over the batch, an auxiliary head's part included
    float regularization = 0;  ///< wd · Σ w² / 2
  };
  /// One forward and backward pass over exactly batch() images, {batch, height, width, channels}
  /// row-major, with a class index each. Gradients go to `sink`, the last layer's first. The loss
  /// is returned as it is, NaN included. Errors: invalid_argument for a wrong number of images or
  /// labels, or a label that is no class; then no gradient was handed out.
  Result<Loss> train_step(std::span<const float> images, std::span<const std::uint16_t> labels,
                          GradientSink& sink, const StepDraw& draw = {});
  Result<Loss> train_step(const PixelImages& images, std::span<const std::uint16_t> labels,
                          GradientSink& sink, const StepDraw& draw = {});

  /// The same step in parts, for parameters that are still on their way: begin_step(), forward()
  /// until it returns true, finish_step().
  Result<void> begin_step(std::span<const float> images, std::span<const std::uint16_t> labels,
                          const StepDraw& draw = {});
  Result<void> begin_step(const PixelImages& images, std::span<const std::uint16_t> labels,
                          const StepDraw& draw = {});
  /// Puts the images of the next step on their way, beside the passes of this one; begin_step() of
  /// its labels is all that they still lack then. From this step's begin_step() to the next one's,
  /// also on another thread than the one that computes; on the host they stay until then. Errors:
  /// invalid_argument where a batch takes several passes, or for images that do not fit.
  Result<void> stage(const PixelImages& images);
  /// Whether a batch is one pass, so that its images can be.
  bool stages() const { return options_.trains && passes() == 1; }
  /// Of the images that were staged last. Errors: also invalid_argument where none were.
  Result<void> begin_step(std::span<const std::uint16_t> labels, const StepDraw& draw = {});
  /// Runs the layers, from where the last call stopped, that need none but the first `readable`
  /// trained parameters, which parameters_changed() was called for. (Of a batch in micro-batches
  /// the first; finish_step() runs the others.) Returns whether all layers have
  /// run.
  Result<bool> forward(std::size_t readable);
  Result<Loss> finish_step(GradientSink& sink);
  /// finish_step() in two parts: on a device the first puts the backward pass on its way, and the
  /// second waits for the loss.
  Result<void> backward(GradientSink& sink);
  Result<Loss> step_loss();

  /// Writes count × classes() logits for `count` images, at most images_per_pass() (fewer are
  /// padded with zero images). Errors: invalid_argument for sizes that do not fit.
  Result<void> infer(std::span<const float> images, std::size_t count, std::span<float> logits);
  Result<void> infer(const PixelImages& images, std::size_t count, std::span<float> logits);

  /// The mean loss of logits that infer() wrote, {labels.size(), classes()}, without regularization
  /// or label smoothing; `scratch` is as large as `logits`. Each label is a class.
  float loss(std::span<const float> logits, std::span<const std::uint16_t> labels,
             std::span<float> scratch) const;

  /// Who hears of activations in each training pass, on the thread that computes: see Graph. Null:
  /// nobody.
  using ActivationWatcher =
      std::function<void(const std::string& layer, std::span<const float> values)>;
  void watch_activations(ActivationWatcher watcher);

  /// Of its activations and their gradients.
  ActivationMemory activation_memory() const { return memory_; }
  /// The library's names for what its operations run.
  std::vector<std::string> implementations() const { return backend_->implementations(); }
  /// Copies between memory formats since the net was made.
  std::uint64_t reorders() const;

 private:
  friend Result<std::unique_ptr<Net>> make_net(
      const NetOptions& options, const std::function<NetOutputs(Graph& graph)>& build);
  class Completed;
  class Sum;
  Result<void> check_step(std::size_t values, std::span<const std::uint16_t> labels) const;
  /// From the held batch, if it has several.
  void begin_pass(std::size_t pass);
  void set_labels(std::span<const std::uint16_t> labels, std::size_t pass);
  float cross_entropy(std::size_t pass) const;
  void run_backward(GradientSink& sink);
  std::size_t passes() const { return options_.batch / images_per_pass(); }
  Result<void> check_inference(std::size_t values, std::size_t count, std::size_t logits) const;
  Result<void> check_levels(const PixelImages& images, std::size_t count) const;
  Result<void> begin_staged(std::span<const std::uint16_t> labels, const StepDraw& draw);
  Result<void> run_inference(std::size_t count, std::span<float> logits);
  Net(NetOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<Graph> graph,
      const NetHeads& heads);

  NetOptions options_;
  std::unique_ptr<Backend> backend_;  // outlives the graph's operations
  std::unique_ptr<Graph> graph_;
  Activation& input_;
  LossHead& head_;
  LossHead* auxiliary_;  // null: none
  ActivationMemory memory_;
  std::vector<ParameterSpec> specs_;
  std::unique_ptr<Decay> decay_;  // null: nothing decays
  std::unique_ptr<ParameterVersions> versions_;
  std::unique_ptr<RepeatedPass> forwards_;   // in training; null: each is its own
  std::unique_ptr<RepeatedPass> backwards_;  // likewise
  struct Handed {
    std::size_t index;
    Gradient gradient;
  };
  std::vector<Handed> handed_;  // by a backward pass that repeats
  HeldBatch held_;              // of a step in several passes
  std::vector<Tensor> sums_;    // of the gradients of all such passes but the last
  bool staged_ = false;         // images are, for a step that has not begun
  StepDraw draw_;
  std::optional<Error> changed_;  // why a parameter's new values cannot be read
};

/// Errors: those of check_net_options() and of make_backend().
Result<std::unique_ptr<Net>> make_net(const NetOptions& options);

/// A net that is none of the zoo's: `build` adds it to an empty graph, its input first, and returns
/// the logits. Errors as above, but for the name and the hidden layers, which are not looked at.
Result<std::unique_ptr<Net>> make_net(const NetOptions& options,
                                      const std::function<NetOutputs(Graph& graph)>& build);

}  // namespace sterna::nets
