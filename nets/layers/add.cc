#include <algorithm>
#include <functional>

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class AddLayer final : public Layer {
 public:
  AddLayer(Reading& a, Reading& b, Activation& y) : a_(a), b_(b), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    const Tensor& a = a_.value();
    std::transform(a.data(), a.data() + a.size(), b_.value().data(), y_.value().data(),
                   std::plus<>());
  }
  void backward(Completion& /*completion*/) override {
    for (Reading* x : {&a_, &b_}) {
      if (Tensor* dx = x->gradient()) {
        std::copy_n(y_.gradient().data(), y_.gradient().size(), dx->data());
      }
    }
  }

 private:
  Reading& a_;
  Reading& b_;
  Activation& y_;
};

}  // namespace

Activation& add(Graph& graph, Activation& a, Activation& b) {
  Reading& read_a = graph.read(a, Uses::forward);
  Reading& read_b = graph.read(b, Uses::forward);
  Activation& y = graph.output(a.shape(), a.value().layout());
  graph.add(std::make_unique<AddLayer>(read_a, read_b, y));
  return y;
}

}  // namespace sterna::nets
