#include "nets/backend/eltwise.h"
#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class AddLayer final : public Layer {
 public:
  /// `relu`: null where none follows.
  AddLayer(Memory& memory, std::unique_ptr<Eltwise> relu, const AddSpec& spec, Reading& a,
           Reading& b, Activation& y)
      : memory_(memory), relu_(std::move(relu)), spec_(spec), a_(a), b_(b), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    if (spec_.relu) {
      memory_.add_and_rectify(a_.value(), b_.value(), y_.value());
    } else {
      memory_.add(a_.value(), b_.value(), y_.value());
    }
  }
  void backward(Completion& /*completion*/) override {
    if (part_ != nullptr) {
      memory_.add_gated(y_.value(), *part_, y_.gradient());
    } else if (spec_.relu) {
      relu_->backward(y_.value(), y_.gradient());
    }
    for (Reading* x : {&a_, &b_}) {
      if (Tensor* dx = x->gradient()) memory_.copy(y_.gradient(), *dx);
    }
  }
  void take_part(Tensor& part) override { part_ = &part; }

 private:
  Memory& memory_;
  std::unique_ptr<Eltwise> relu_;
  AddSpec spec_;
  Reading& a_;
  Reading& b_;
  Activation& y_;
  Tensor* part_ = nullptr;  // of y's gradient, with a relu
};

}  // namespace

Activation& add(Graph& graph, Activation& a, Activation& b, const AddOptions& options) {
  Reading& read_a = graph.read(a, Uses::forward);
  Reading& read_b = graph.read(b, Uses::forward);
  Activation& y = graph.output(a.shape(), a.value().layout(), options.relu);
  std::unique_ptr<Eltwise> relu;
  if (options.relu) {
    relu = graph.backend().eltwise({.function = EltwiseSpec::Function::relu,
                                    .count = y.value().size(),
                                    .element = y.value().element(),
                                    .backward = graph.trains()});
  }
  const AddSpec spec{.relu = options.relu};
  graph.hand_gradient_on();
  if (options.relu) graph.take_part();
  graph.add(std::make_unique<AddLayer>(graph.backend().memory(), std::move(relu), spec, read_a,
                                       read_b, y),
            spec);
  return y;
}

}  // namespace sterna::nets
