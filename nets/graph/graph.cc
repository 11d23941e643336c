#include "nets/graph/graph.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace sterna::nets {
namespace {

/// Weights and biases of one layer, with their indices in the table.
struct Affine {
  Parameter& weights;
  Parameter& biases;
  std::size_t index;  // of the weights; the biases follow

  void report(Completion& completion) const {
    completion.complete(index);
    completion.complete(index + 1);
  }
};

class ConvolutionLayer final : public Layer {
 public:
  ConvolutionLayer(std::unique_ptr<Convolution> operation, Affine affine, Activation& x,
                   Activation& y)
      : operation_(std::move(operation)), affine_(affine), x_(x), y_(y) {}
  void forward() override {
    operation_->forward(x_.value, affine_.weights.value, affine_.biases.value, y_.value);
  }
  void backward(Completion& completion) override {
    operation_->backward_parameters(x_.value, y_.gradient, affine_.weights.gradient,
                                    affine_.biases.gradient);
    affine_.report(completion);
    if (x_.gradient.size() > 0)
      operation_->backward_data(y_.gradient, affine_.weights.value, x_.gradient);
  }
  void parameter_changed() override { operation_->weights_changed(); }

 private:
  std::unique_ptr<Convolution> operation_;
  Affine affine_;
  Activation& x_;
  Activation& y_;
};

class InnerProductLayer final : public Layer {
 public:
  InnerProductLayer(std::unique_ptr<InnerProduct> operation, Affine affine, Activation& x,
                    Activation& y)
      : operation_(std::move(operation)), affine_(affine), x_(x), y_(y) {}
  void forward() override {
    operation_->forward(x_.value, affine_.weights.value, affine_.biases.value, y_.value);
  }
  void backward(Completion& completion) override {
    operation_->backward_parameters(x_.value, y_.gradient, affine_.weights.gradient,
                                    affine_.biases.gradient);
    affine_.report(completion);
    if (x_.gradient.size() > 0)
      operation_->backward_data(y_.gradient, affine_.weights.value, x_.gradient);
  }

 private:
  std::unique_ptr<InnerProduct> operation_;
  Affine affine_;
  Activation& x_;
  Activation& y_;
};

class MaxPoolLayer final : public Layer {
 public:
  MaxPoolLayer(std::unique_ptr<MaxPool> operation, Activation& x, Activation& y)
      : operation_(std::move(operation)), x_(x), y_(y) {}
  void forward() override { operation_->forward(x_.value, y_.value); }
  void backward(Completion& /*completion*/) override {
    operation_->backward(y_.gradient, x_.gradient);
  }

 private:
  std::unique_ptr<MaxPool> operation_;
  Activation& x_;
  Activation& y_;
};

class ReluLayer final : public Layer {
 public:
  ReluLayer(std::unique_ptr<Relu> operation, Activation& xy)
      : operation_(std::move(operation)), xy_(xy) {}
  void forward() override { operation_->forward(xy_.value); }
  void backward(Completion& /*completion*/) override {
    operation_->backward(xy_.value, xy_.gradient);
  }

 private:
  std::unique_ptr<Relu> operation_;
  Activation& xy_;
};

class FlattenLayer final : public Layer {
 public:
  FlattenLayer(std::unique_ptr<Relayout> operation, Activation& x, Activation& y)
      : operation_(std::move(operation)), x_(x), y_(y) {}
  void forward() override { operation_->forward(x_.value, y_.value); }
  void backward(Completion& /*completion*/) override {
    operation_->backward(y_.gradient, x_.gradient);
  }

 private:
  std::unique_ptr<Relayout> operation_;
  Activation& x_;
  Activation& y_;
};

class FixedGradientLayer final : public Layer {
 public:
  FixedGradientLayer(std::size_t index, const Pace& pace) : index_(index), pace_(pace) {}
  void forward() override { pass(pace_.forward); }
  void backward(Completion& completion) override {
    pass(pace_.backward);
    completion.complete(index_);
  }

 private:
  static void pass(std::chrono::nanoseconds time) {
    if (time.count() > 0) std::this_thread::sleep_for(time);
  }

  std::size_t index_;
  Pace pace_;
};

}  // namespace

Activation& Graph::input(Shape shape, Layout layout) {
  return activations_.emplace_back(Activation{Tensor(std::move(shape), layout), Tensor({0})});
}

Activation& Graph::activation(Shape shape, Layout layout) {
  Tensor gradient(shape, layout);
  return activations_.emplace_back(
      Activation{Tensor(std::move(shape), layout), std::move(gradient)});
}

Parameter& Graph::weights(const AffineSpec& spec, Shape shape) {
  return parameters_.emplace_back(ParameterSpec{.name = spec.name + "/weights",
                                                .shape = std::move(shape),
                                                .role = Role::weight,
                                                .decay = spec.decay,
                                                .stddev = spec.stddev,
                                                .constant = 0});
}

Parameter& Graph::biases(const AffineSpec& spec) {
  return parameters_.emplace_back(ParameterSpec{.name = spec.name + "/biases",
                                                .shape = {spec.outputs},
                                                .role = Role::bias,
                                                .decay = false,
                                                .stddev = 0,
                                                .constant = spec.bias});
}

Activation& Graph::convolution(Activation& x, const AffineSpec& spec, const Window& window) {
  const Shape in = x.value.shape();
  const std::size_t index = parameters_.size();
  Parameter& w = weights(spec, {spec.outputs, in[1], window.kernel, window.kernel});
  const Affine affine{w, biases(spec), index};
  Activation& y = activation({in[0], spec.outputs, window.out(in[2]), window.out(in[3])},
                             Layout::channels_last);
  auto operation = backend_.convolution({.input = in,
                                         .out_channels = spec.outputs,
                                         .window = window,
                                         .input_gradient = !is_input(x)});
  add(std::make_unique<ConvolutionLayer>(std::move(operation), affine, x, y));
  return y;
}

Activation& Graph::inner_product(Activation& x, const AffineSpec& spec) {
  const std::size_t batch = x.value.shape()[0], in = x.value.size() / batch;
  const std::size_t index = parameters_.size();
  Parameter& w = weights(spec, {spec.outputs, in});
  const Affine affine{w, biases(spec), index};
  Activation& y = activation({batch, spec.outputs}, Layout::row_major);
  auto operation = backend_.inner_product(
      {.batch = batch, .in = in, .out = spec.outputs, .input_gradient = !is_input(x)});
  add(std::make_unique<InnerProductLayer>(std::move(operation), affine, x, y));
  return y;
}

void Graph::fixed_gradient(const ParameterSpec& spec, float stddev, const Pace& pace) {
  const auto index = static_cast<std::uint32_t>(parameters_.size());
  const std::span<float> gradient = parameters_.emplace_back(spec).gradient.values();
  // Drawing all of them would take longer than many an exchange.
  constexpr std::size_t kDrawn = 65536;
  const std::span<float> drawn = gradient.first(std::min(kDrawn, gradient.size()));
  ParameterSpec from = spec;
  from.stddev = stddev;
  initialize(drawn, from, 0, index);
  for (std::size_t i = drawn.size(); i < gradient.size(); ++i) gradient[i] = gradient[i - kDrawn];
  add(std::make_unique<FixedGradientLayer>(index, pace));
}

Activation& Graph::max_pool(Activation& x, const Window& window) {
  const Shape in = x.value.shape();
  Activation& y =
      activation({in[0], in[1], window.out(in[2]), window.out(in[3])}, Layout::channels_last);
  add(std::make_unique<MaxPoolLayer>(backend_.max_pool({.input = in, .window = window}), x, y));
  return y;
}

Activation& Graph::relu(Activation& x) {
  add(std::make_unique<ReluLayer>(backend_.relu(x.value.size()), x));
  return x;
}

Activation& Graph::flatten(Activation& x) {
  const Shape in = x.value.shape();
  Activation& y = activation({in[0], in[1] * in[2] * in[3]}, Layout::row_major);
  add(std::make_unique<FlattenLayer>(backend_.relayout(in), x, y));
  return y;
}

/// A layer, after its parameters.
void Graph::add(std::unique_ptr<Layer> layer) {
  owners_.resize(parameters_.size(), layer.get());
  layers_.push_back({std::move(layer), parameters_.size()});
}

bool Graph::forward(std::size_t readable) {
  while (next_ < layers_.size() && layers_[next_].parameters <= readable) {
    layers_[next_++].layer->forward();
  }
  return next_ == layers_.size();
}

void Graph::backward(Completion& completion) {
  for (auto placed = layers_.rbegin(); placed != layers_.rend(); ++placed)
    placed->layer->backward(completion);
}

}  // namespace sterna::nets
