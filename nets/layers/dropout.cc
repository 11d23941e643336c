#include "kernels/random/dropout.h"

#include <algorithm>

#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

/// The backward pass draws the same again.
class DropoutLayer final : public Layer {
 public:
  DropoutLayer(float keep, std::uint32_t number, Reading& x, Activation& y)
      : keep_(keep), number_(number), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    const Tensor& x = x_.value();
    Tensor& y = y_.value();
    if (pass.mode == Mode::evaluation) {
      if (y.data() != x.data()) std::copy_n(x.data(), x.size(), y.data());
      return;
    }
    const std::size_t image = x.size() / x.shape()[0];
    draw_ = {.seed = pass.draw.seed,
             .step = pass.draw.step,
             .rank = pass.draw.rank,
             .layer = number_,
             .first = pass.draw.first_image * image};
    kernels::dropout(x.values(), keep_, draw_, y.values());
  }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) {
      kernels::dropout(y_.gradient().values(), keep_, draw_, dx->values());
    }
  }

 private:
  float keep_;
  std::uint32_t number_;
  Reading& x_;
  Activation& y_;
  kernels::DropoutDraw draw_;
};

}  // namespace

Activation& dropout(Graph& graph, Activation& x, float keep) {
  if (keep >= 1) return x;
  Reading& read = graph.read(x, Uses::forward);
  Activation& y = graph.output_over(x);
  graph.add(std::make_unique<DropoutLayer>(keep, graph.next_dropout(), read, y));
  return y;
}

}  // namespace sterna::nets
