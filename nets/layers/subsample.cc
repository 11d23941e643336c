#include <algorithm>

#include "nets/layers/layers.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

class SubsampleLayer final : public Layer {
 public:
  SubsampleLayer(std::size_t stride, Reading& x, Activation& y) : stride_(stride), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    clear(y_.value());
    each_pixel([&](std::size_t from, std::size_t to, std::size_t bytes) {
      std::copy_n(x_.value().memory() + from, bytes, y_.value().memory() + to);
    });
  }
  void backward(Completion& /*completion*/) override {
    Tensor* dx = x_.gradient();
    if (dx == nullptr) return;
    clear(*dx);
    each_pixel([&](std::size_t from, std::size_t to, std::size_t bytes) {
      std::copy_n(y_.gradient().memory() + to, bytes, dx->memory() + from);
    });
  }

 private:
  /// visit(place in x, place in y, size), in bytes.
  template <class Visit>
  void each_pixel(Visit visit) {
    const std::size_t element = bytes_of(y_.value().element());
    const Shape& in = x_.value().shape();
    const Shape& out = y_.shape();
    std::size_t to = 0;
    for (std::size_t n = 0; n < in[0]; ++n)
      for (std::size_t row = 0; row < out[2]; ++row)
        for (std::size_t column = 0; column < out[3]; ++column, to += out[1])
          visit(((n * in[2] + row * stride_) * in[3] + column * stride_) * in[1] * element,
                to * element, in[1] * element);
  }

  std::size_t stride_;
  Reading& x_;
  Activation& y_;
};

}  // namespace

Activation& subsample(Graph& graph, Activation& x, std::size_t channels, std::size_t stride) {
  const Shape in = x.shape();
  Reading& read = graph.read(x, Uses::forward);
  Activation& y =
      graph.output({in[0], channels, (in[2] + stride - 1) / stride, (in[3] + stride - 1) / stride},
                   Layout::channels_last);
  graph.add(std::make_unique<SubsampleLayer>(stride, read, y),
            SubsampleSpec{.channels = channels, .stride = stride});
  return y;
}

}  // namespace sterna::nets
