#include <algorithm>

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

/// Channels last, each pixel's channels lie beside each other, those of one input after the
/// other's.
class ConcatLayer final : public Layer {
 public:
  ConcatLayer(std::vector<Reading*> x, Activation& y) : x_(std::move(x)), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    float* to = y_.value().data();
    each_part([&](Reading& x, std::size_t pixels, std::size_t channels, std::size_t first) {
      const float* from = x.value().data();
      for (std::size_t i = 0; i < pixels; ++i)
        std::copy_n(from + i * channels, channels, to + i * y_.shape()[1] + first);
    });
  }
  void backward(Completion& /*completion*/) override {
    const float* from = y_.gradient().data();
    each_part([&](Reading& x, std::size_t pixels, std::size_t channels, std::size_t first) {
      Tensor* dx = x.gradient();
      if (dx == nullptr) return;
      for (std::size_t i = 0; i < pixels; ++i)
        std::copy_n(from + i * y_.shape()[1] + first, channels, dx->data() + i * channels);
    });
  }

 private:
  template <class Visit>
  void each_part(Visit visit) {
    const std::size_t pixels = y_.value().size() / y_.shape()[1];
    std::size_t first = 0;
    for (Reading* x : x_) {
      const std::size_t channels = x->value().shape()[1];
      visit(*x, pixels, channels, first);
      first += channels;
    }
  }

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
  graph.add(std::make_unique<ConcatLayer>(std::move(read), y));
  return y;
}

}  // namespace sterna::nets
