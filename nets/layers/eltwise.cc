#include "nets/backend/eltwise.h"

#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

/// The operation is in place; where other layers need what this one read, a copy goes before it.
class EltwiseLayer final : public Layer {
 public:
  EltwiseLayer(std::unique_ptr<Eltwise> operation, Memory& memory, Reading& x, Activation& y)
      : operation_(std::move(operation)), memory_(memory), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    memory_.copy(x_.value(), y_.value());
    operation_->forward(y_.value());
  }
  void backward(Completion& /*completion*/) override {
    Tensor* dx = x_.gradient();
    if (dx == nullptr) return;
    memory_.copy(y_.gradient(), *dx);
    operation_->backward(y_.value(), *dx);
  }

 private:
  std::unique_ptr<Eltwise> operation_;
  Memory& memory_;
  Reading& x_;
  Activation& y_;
};

Activation& eltwise(Graph& graph, Activation& x, EltwiseSpec::Function function) {
  Reading& read = graph.read(x, Uses::forward);
  Activation& y = graph.output_over(x);
  const EltwiseSpec spec{.function = function,
                         .count = x.value().size(),
                         .element = x.value().element(),
                         .backward = graph.trains()};
  graph.add(std::make_unique<EltwiseLayer>(graph.backend().eltwise(spec), graph.backend().memory(),
                                           read, y),
            spec);
  return y;
}

}  // namespace

Activation& relu(Graph& graph, Activation& x) {
  return eltwise(graph, x, EltwiseSpec::Function::relu);
}

Activation& sigmoid(Graph& graph, Activation& x) {
  return eltwise(graph, x, EltwiseSpec::Function::sigmoid);
}

}  // namespace sterna::nets
