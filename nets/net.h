// A net that trains: parameters in, images and labels in, gradients out as they complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nets/backend/backend.h"
#include "nets/tensor/parameter.h"
#include "nets/zoo/zoo.h"
#include "runtime/base/result.h"

namespace sterna::nets {

class Activation;
class Backend;
class Graph;
class LossHead;

/// Where the backward pass puts gradients.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// Called on the computing thread the moment the gradient of parameter `index` is complete,
  /// weight decay included. Row-major like the parameter, where the backend wrote it: not copied,
  /// and valid until the net's next forward or backward pass.
  virtual void gradient(std::size_t index, std::span<const float> values) = 0;
};

struct NetOptions {
  std::string name;                        ///< a name of net_names()
  std::vector<std::uint32_t> hidden = {};  ///< of the mlp: its hidden layers' widths
  std::size_t batch = 0;                   ///< images per step, at least 1
  float weight_decay = 0;  ///< wd of the loss term wd · Σ w² / 2 over the weights that decay
  BackendOptions backend = {};
};

/// Used by one thread at a time; several nets in several threads do not disturb each other.
/// Equal inputs give equal bits in every process with the same number of threads, instruction set
/// and oneDNN. Parameters start as zeros: see initialize().
class Net {
 public:
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  /// The table of parameters: layers in forward order, weights before biases.
  const std::vector<ParameterSpec>& parameters() const { return specs_; }
  /// Of one image: {channels, height, width}.
  std::vector<std::size_t> input_shape() const;
  std::size_t classes() const;
  std::size_t batch() const { return options_.batch; }

  /// The values of parameter `index`, 64-byte aligned. Write them between steps, then call
  /// parameters_changed(index).
  std::span<float> parameter(std::size_t index);
  void parameters_changed(std::size_t index);

  struct Loss {
    float cross_entropy = 0;   ///< mean over the batch
    float regularization = 0;  ///< wd · Σ w² / 2
  };
  /// One forward and backward pass over exactly batch() images, {batch, channels, height, width}
  /// row-major, with a class index each. Gradients go to `sink`, the last layer's first. The loss
  /// is returned as it is, NaN included. Errors: invalid_argument for a wrong number of images or
  /// labels, or a label that is no class; then no gradient was handed out.
  Result<Loss> train_step(std::span<const float> images, std::span<const std::uint16_t> labels,
                          GradientSink& sink);

  /// The same step in parts, for parameters that are still on their way: begin_step(), forward()
  /// until it returns true, finish_step().
  Result<void> begin_step(std::span<const float> images, std::span<const std::uint16_t> labels);
  /// Runs the layers, from where the last call stopped, that need none but the first `readable`
  /// parameters, which parameters_changed() was called for. Returns whether all layers have run.
  Result<bool> forward(std::size_t readable);
  Result<Loss> finish_step(GradientSink& sink);

  /// Writes count × classes() logits for `count` images, at most batch() (fewer are padded with
  /// zero images). Errors: invalid_argument for sizes that do not fit.
  Result<void> infer(std::span<const float> images, std::size_t count, std::span<float> logits);

  /// Copies between memory formats since the net was made.
  std::uint64_t reorders() const;

 private:
  friend Result<std::unique_ptr<Net>> make_net(
      const NetOptions& options, const std::function<Activation&(Graph& graph)>& build);
  class Decay;
  Net(NetOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<Graph> graph,
      LossHead& head);

  NetOptions options_;
  std::unique_ptr<Backend> backend_;  // outlives the graph's operations
  std::unique_ptr<Graph> graph_;
  Activation& input_;
  LossHead& head_;
  std::vector<ParameterSpec> specs_;
};

/// Errors: invalid_argument for an unknown name (the message lists the known ones), a batch of 0,
/// a hidden layer without units or in a net that has none, a weight decay that is negative or not
/// finite, and what make_backend refuses.
Result<std::unique_ptr<Net>> make_net(const NetOptions& options);

/// A net that is none of the zoo's: `build` adds it to an empty graph, its input first, and returns
/// the logits. Errors as above, but for the name and the hidden layers, which are not looked at.
Result<std::unique_ptr<Net>> make_net(const NetOptions& options,
                                      const std::function<Activation&(Graph& graph)>& build);

}  // namespace sterna::nets
