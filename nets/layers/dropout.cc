#include "kernels/random/dropout.h"

#include <algorithm>
#include <array>

#include "nets/layers/layers.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

void drop(const Tensor& x, float keep, kernels::DropoutDraw draw, Tensor& y) {
  if (x.element() == Element::fp32) return kernels::dropout(x.values(), keep, draw, y.values());
  std::array<float, kElementsAtOnce> some;
  for (std::size_t i = 0; i < x.size(); i += kElementsAtOnce) {
    const std::span<float> values = std::span(some).first(std::min(kElementsAtOnce, x.size() - i));
    read(x, i, values);
    kernels::dropout(values, keep, draw, values);
    write(values, y, i);
    draw.first += values.size();
  }
}

/// The backward pass draws the same again.
class DropoutLayer final : public Layer {
 public:
  DropoutLayer(float keep, std::uint32_t number, Reading& x, Activation& y)
      : keep_(keep), number_(number), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    const Tensor& x = x_.value();
    Tensor& y = y_.value();
    if (pass.mode == Mode::evaluation) {
      copy(x, y);
      return;
    }
    const std::size_t image = x.size() / x.shape()[0];
    draw_ = {.seed = pass.draw.seed,
             .step = pass.draw.step,
             .rank = pass.draw.rank,
             .layer = number_,
             .first = pass.draw.first_image * image};
    drop(x, keep_, draw_, y);
  }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) drop(y_.gradient(), keep_, draw_, *dx);
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
  graph.add(std::make_unique<DropoutLayer>(keep, graph.next_dropout(), read, y), CopySpec{});
  return y;
}

}  // namespace sterna::nets
