#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

/// Channels last, a pixel's channels are one run.
class SubsampleLayer final : public Layer {
 public:
  SubsampleLayer(Memory& memory, std::size_t stride, Reading& x, Activation& y)
      : memory_(memory), runs_(runs_of(stride, x.value().shape(), y.shape())), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    memory_.clear(y_.value(), 0);
    memory_.copy(x_.value(), runs_, y_.value());
  }
  void backward(Completion& /*completion*/) override {
    Tensor* dx = x_.gradient();
    if (dx == nullptr) return;
    memory_.clear(*dx, 0);
    memory_.copy(y_.gradient(), runs_.turned(), *dx);
  }

 private:
  static kernels::Runs runs_of(std::size_t stride, const Shape& in, const Shape& out) {
    return {.images = in[0],
            .rows = out[2],
            .columns = out[3],
            .length = in[1],
            .from = {.image = in[1] * in[2] * in[3],
                     .row = stride * in[3] * in[1],
                     .column = stride * in[1]},
            .to = {.image = out[1] * out[2] * out[3], .row = out[3] * out[1], .column = out[1]}};
  }

  Memory& memory_;
  kernels::Runs runs_;
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
  graph.add(std::make_unique<SubsampleLayer>(graph.backend().memory(), stride, read, y),
            SubsampleSpec{.channels = channels, .stride = stride});
  return y;
}

}  // namespace sterna::nets
