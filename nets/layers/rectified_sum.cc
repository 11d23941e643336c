#include "nets/backend/rectified_sum.h"

#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class RectifiedSumLayer final : public Layer {
 public:
  RectifiedSumLayer(std::unique_ptr<RectifiedSum> operation, Memory& memory, Reading& a, Reading& b,
                    Activation& y)
      : operation_(std::move(operation)), memory_(memory), a_(a), b_(b), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    operation_->forward(a_.value(), b_.value(), y_.value());
  }
  void backward(Completion& /*completion*/) override {
    if (part_ != nullptr) {
      operation_->backward(y_.value(), *part_, y_.gradient());
    } else {
      operation_->backward(y_.value(), y_.gradient());
    }
    for (Reading* x : {&a_, &b_}) {
      if (Tensor* dx = x->gradient()) memory_.copy(y_.gradient(), *dx);
    }
  }
  void take_part(Tensor& part) override { part_ = &part; }

 private:
  std::unique_ptr<RectifiedSum> operation_;
  Memory& memory_;
  Reading& a_;
  Reading& b_;
  Activation& y_;
  Tensor* part_ = nullptr;  // of y's gradient
};

}  // namespace

Activation& rectified_sum(Graph& graph, Activation& a, Activation& b) {
  Reading& read_a = graph.read(a, Uses::forward);
  Reading& read_b = graph.read(b, Uses::forward);
  Activation& y = graph.output(a.shape(), a.value().layout(), true);
  const RectifiedSumSpec spec{
      .count = y.value().size(), .element = y.value().element(), .backward = graph.trains()};
  graph.hand_gradient_on();
  graph.take_part();
  graph.add(std::make_unique<RectifiedSumLayer>(graph.backend().rectified_sum(spec),
                                                graph.backend().memory(), read_a, read_b, y),
            spec);
  return y;
}

}  // namespace sterna::nets
