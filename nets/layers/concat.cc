#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

/// Channels last, each pixel's channels lie beside each other, those of one input after the
/// other's.
class ConcatLayer final : public Layer {
 public:
  ConcatLayer(Memory& memory, std::vector<Reading*> x, Activation& y)
      : memory_(memory), x_(std::move(x)), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    each_part(
        [&](Reading& x, const kernels::Runs& runs) { memory_.copy(x.value(), runs, y_.value()); });
  }
  void backward(Completion& /*completion*/) override {
    each_part([&](Reading& x, const kernels::Runs& runs) {
      if (Tensor* dx = x.gradient()) memory_.copy(y_.gradient(), runs.turned(), *dx);
    });
  }

 private:
  /// visit(input, how its channels get into each pixel of y).
  template <class Visit>
  void each_part(Visit visit) {
    const std::size_t channels = y_.shape()[1], pixels = y_.value().size() / channels;
    std::size_t first = 0;
    for (Reading* x : x_) {
      const std::size_t own = x->value().shape()[1];
      visit(*x, kernels::Runs{.columns = pixels,
                              .length = own,
                              .from = {.column = own},
                              .to = {.first = first, .column = channels}});
      first += own;
    }
  }

  Memory& memory_;
  std::vector<Reading*> x_;
  Activation& y_;
};

}  // namespace

Activation& concat(Graph& graph, const std::vector<Activation*>& x) {
  std::vector<Reading*> read;
  Shape shape = x.front()->shape();
  shape[1] = 0;
  for (Activation* one : x) {
    read.push_back(&graph.read(*one, Uses::forward));
    shape[1] += one->shape()[1];
  }
  Activation& y = graph.output(shape, Layout::channels_last);
  graph.add(std::make_unique<ConcatLayer>(graph.backend().memory(), std::move(read), y),
            ConcatSpec{});
  return y;
}

}  // namespace sterna::nets
