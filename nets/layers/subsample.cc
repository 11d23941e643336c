#include <algorithm>

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

class SubsampleLayer final : public Layer {
 public:
  SubsampleLayer(std::size_t stride, Reading& x, Activation& y) : stride_(stride), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    std::ranges::fill(y_.value().values(), 0.0F);
    each_pixel([&](std::size_t from, std::size_t to, std::size_t channels) {
      std::copy_n(x_.value().data() + from, channels, y_.value().data() + to);
    });
  }
  void backward(Completion& /*completion*/) override {
    Tensor* dx = x_.gradient();
    if (dx == nullptr) return;
    std::ranges::fill(dx->values(), 0.0F);
    each_pixel([&](std::size_t from, std::size_t to, std::size_t channels) {
      std::copy_n(y_.gradient().data() + to, channels, dx->data() + from);
    });
  }

 private:
  template <class Visit>
  void each_pixel(Visit visit) {
    const Shape& in = x_.value().shape();
    const Shape& out = y_.shape();
    std::size_t to = 0;
    for (std::size_t n = 0; n < in[0]; ++n)
      for (std::size_t row = 0; row < out[2]; ++row)
        for (std::size_t column = 0; column < out[3]; ++column, to += out[1])
          visit(((n * in[2] + row * stride_) * in[3] + column * stride_) * in[1], to, in[1]);
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
  graph.add(std::make_unique<SubsampleLayer>(stride, read, y));
  return y;
}

}  // namespace sterna::nets
