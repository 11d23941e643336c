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
    std::byte* to = y_.value().memory();
    each_part([&](Reading& x, const Part& part) {
      const std::byte* from = x.value().memory();
      for (std::size_t i = 0; i < part.pixels; ++i)
        std::copy_n(from + i * part.bytes, part.bytes, to + i * part.stride + part.first);
    });
  }
  void backward(Completion& /*completion*/) override {
    const std::byte* from = y_.gradient().memory();
    each_part([&](Reading& x, const Part& part) {
      Tensor* dx = x.gradient();
      if (dx == nullptr) return;
      for (std::size_t i = 0; i < part.pixels; ++i)
        std::copy_n(from + i * part.stride + part.first, part.bytes, dx->memory() + i * part.bytes);
    });
  }

 private:
  /// Where one input's channels lie in each pixel of y, in bytes.
  struct Part {
    std::size_t pixels, stride, first, bytes;
  };
  template <class Visit>
  void each_part(Visit visit) {
    const std::size_t channels = y_.shape()[1], pixels = y_.value().size() / channels;
    const std::size_t element = bytes_of(y_.value().element());
    std::size_t first = 0;
    for (Reading* x : x_) {
      const std::size_t bytes = x->value().shape()[1] * element;
      visit(*x, Part{pixels, channels * element, first, bytes});
      first += bytes;
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
  graph.add(std::make_unique<ConcatLayer>(std::move(read), y), ConcatSpec{});
  return y;
}

}  // namespace sterna::nets
