#include "nets/backend/batch_norm.h"

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

struct BatchNormParameters {
  Parameter& beta;
  Parameter* gamma;  // null: it does not scale
  Parameter& mean;
  Parameter& variance;
};

class BatchNormLayer final : public Layer {
 public:
  BatchNormLayer(std::unique_ptr<BatchNorm> operation, const BatchNormParameters& parameters,
                 Reading& x, Activation& y)
      : operation_(std::move(operation)), parameters_(parameters), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    const auto& [beta, gamma, mean, variance] = parameters_;
    const Tensor* scale = gamma != nullptr ? &gamma->value : nullptr;
    if (pass.mode == Mode::training) {
      operation_->forward(x_.value(), scale, beta.value, mean.gradient, variance.gradient,
                          y_.value());
    } else {
      operation_->infer(x_.value(), scale, beta.value, mean.value, variance.value, y_.value());
    }
  }
  void backward(Completion& completion) override {
    const auto& [beta, gamma, mean, variance] = parameters_;
    const Tensor* scale = gamma != nullptr ? &gamma->value : nullptr;
    Tensor* dscale = gamma != nullptr ? &gamma->gradient : nullptr;
    // Where nobody asks for the gradient by x, it goes over that by y.
    Tensor* dx = x_.gradient();
    operation_->backward(x_.value(), y_.gradient(), scale, beta.value, mean.gradient,
                         variance.gradient, dx != nullptr ? *dx : y_.gradient(), dscale,
                         beta.gradient);
    completion.complete({&beta, gamma, &mean, &variance});
  }

 private:
  std::unique_ptr<BatchNorm> operation_;
  BatchNormParameters parameters_;
  Reading& x_;
  Activation& y_;
};

}  // namespace

Activation& batch_norm(Graph& graph, Activation& x, const BatchNormOptions& options) {
  const Shape in = x.shape();
  Reading& read = graph.read(x);
  const auto parameter = [&](const char* what, Role role, float start) -> Parameter& {
    return graph.parameter(
        ParameterSpec{.name = options.name + "/" + what,
                      .shape = {in[1]},
                      .role = role,
                      .constant = start,
                      .moving_decay = role == Role::statistic ? options.decay : 0.0F});
  };
  Parameter& beta = parameter("beta", Role::beta, 0);
  Parameter* gamma = options.scale ? &parameter("gamma", Role::gamma, 1) : nullptr;
  Parameter& mean = parameter("mean", Role::statistic, 0);
  Parameter& variance = parameter("variance", Role::statistic, 1);
  Activation& y = graph.output(in, Layout::channels_last);
  const BatchNormSpec spec{.input = in,
                           .epsilon = options.epsilon,
                           .scale = options.scale,
                           .relu = options.relu,
                           .element = y.value().element(),
                           .backward = graph.trains()};
  graph.add(
      std::make_unique<BatchNormLayer>(graph.backend().batch_norm(spec),
                                       BatchNormParameters{beta, gamma, mean, variance}, read, y),
      spec);
  return y;
}

}  // namespace sterna::nets
