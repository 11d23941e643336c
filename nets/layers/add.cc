#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class AddLayer final : public Layer {
 public:
  AddLayer(Memory& memory, Reading& a, Reading& b, Activation& y)
      : memory_(memory), a_(a), b_(b), y_(y) {}
  void forward(const Pass& /*pass*/) override { memory_.add(a_.value(), b_.value(), y_.value()); }
  void backward(Completion& /*completion*/) override {
    for (Reading* x : {&a_, &b_}) {
      if (Tensor* dx = x->gradient()) memory_.copy(y_.gradient(), *dx);
    }
  }

 private:
  Memory& memory_;
  Reading& a_;
  Reading& b_;
  Activation& y_;
};

}  // namespace

Activation& add(Graph& graph, Activation& a, Activation& b) {
  Reading& read_a = graph.read(a, Uses::forward);
  Reading& read_b = graph.read(b, Uses::forward);
  Activation& y = graph.output(a.shape(), a.value().layout());
  graph.hand_gradient_on();
  graph.add(std::make_unique<AddLayer>(graph.backend().memory(), read_a, read_b, y), AddSpec{});
  return y;
}

}  // namespace sterna::nets
