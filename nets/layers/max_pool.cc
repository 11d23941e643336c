#include "nets/backend/max_pool.h"

#include <cassert>

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class MaxPoolLayer final : public Layer {
 public:
  MaxPoolLayer(std::unique_ptr<MaxPool> operation, Reading& x, Activation& y)
      : operation_(std::move(operation)), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override { operation_->forward(x_.value(), y_.value()); }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) operation_->backward(y_.gradient(), *dx);
  }

 private:
  std::unique_ptr<MaxPool> operation_;
  Reading& x_;
  Activation& y_;
};

}  // namespace

Activation& max_pool(Graph& graph, Activation& x, const Window& window) {
  const Shape in = x.shape();
  assert(window.down().kernel * window.across().kernel <= 256);
  Reading& read = graph.read(x, Uses::forward);
  Activation& y = graph.output({in[0], in[1], window.down().out(in[2]), window.across().out(in[3])},
                               Layout::channels_last);
  const MaxPoolSpec spec{
      .input = in, .window = window, .element = y.value().element(), .backward = graph.trains()};
  graph.add(std::make_unique<MaxPoolLayer>(graph.backend().max_pool(spec), read, y), spec);
  return y;
}

}  // namespace sterna::nets
