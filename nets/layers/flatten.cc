#include "nets/backend/relayout.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class FlattenLayer final : public Layer {
 public:
  FlattenLayer(std::unique_ptr<Relayout> operation, Reading& x, Activation& y)
      : operation_(std::move(operation)), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override { operation_->forward(x_.value(), y_.value()); }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) operation_->backward(y_.gradient(), *dx);
  }

 private:
  std::unique_ptr<Relayout> operation_;
  Reading& x_;
  Activation& y_;
};

}  // namespace

Activation& flatten(Graph& graph, Activation& x) {
  const Shape in = x.shape();
  Reading& read = graph.read(x, Uses::forward);
  Activation& y = graph.output({in[0], in[1] * in[2] * in[3]}, Layout::row_major);
  const RelayoutSpec spec{.shape = in, .element = y.value().element(), .backward = graph.trains()};
  graph.add(std::make_unique<FlattenLayer>(graph.backend().relayout(spec), read, y), spec);
  return y;
}

}  // namespace sterna::nets
