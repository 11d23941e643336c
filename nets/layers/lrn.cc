#include "nets/backend/lrn.h"

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class LrnLayer final : public Layer {
 public:
  LrnLayer(std::unique_ptr<Lrn> operation, Reading& x, Activation& y)
      : operation_(std::move(operation)), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override { operation_->forward(x_.value(), y_.value()); }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) operation_->backward(x_.value(), y_.gradient(), *dx);
  }

 private:
  std::unique_ptr<Lrn> operation_;
  Reading& x_;
  Activation& y_;
};

}  // namespace

Activation& lrn(Graph& graph, Activation& x, const LrnOptions& options) {
  const Shape in = x.shape();
  Reading& read = graph.read(x);
  Activation& y = graph.output(in, Layout::channels_last);
  const LrnSpec spec{.input = in,
                     .radius = options.radius,
                     .bias = options.bias,
                     .alpha = options.alpha,
                     .beta = options.beta,
                     .element = y.value().element(),
                     .backward = graph.trains()};
  graph.add(std::make_unique<LrnLayer>(graph.backend().lrn(spec), read, y), spec);
  return y;
}

}  // namespace sterna::nets
