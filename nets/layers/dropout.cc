#include "nets/backend/dropout.h"

#include "nets/backend/memory.h"
#include "nets/layers/layers.h"

namespace sterna::nets {
namespace {

/// The backward pass draws the same again.
class DropoutLayer final : public Layer {
 public:
  DropoutLayer(std::unique_ptr<Dropout> operation, Memory& memory, std::uint32_t number, Reading& x,
               Activation& y)
      : operation_(std::move(operation)), memory_(memory), number_(number), x_(x), y_(y) {}
  void begin(const Pass& pass) override {
    if (pass.mode == Mode::evaluation) return;
    const Tensor& x = x_.value();
    const std::size_t image = x.size() / x.shape()[0];
    operation_->draw({.seed = pass.draw.seed,
                      .step = pass.draw.step,
                      .rank = pass.draw.rank,
                      .layer = number_,
                      .first = pass.draw.first_image * image});
  }
  void forward(const Pass& pass) override {
    if (pass.mode == Mode::evaluation) {
      memory_.copy(x_.value(), y_.value());
    } else {
      operation_->run(x_.value(), y_.value());
    }
  }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) operation_->run(y_.gradient(), *dx);
  }

 private:
  std::unique_ptr<Dropout> operation_;
  Memory& memory_;
  std::uint32_t number_;
  Reading& x_;
  Activation& y_;
};

}  // namespace

Activation& dropout(Graph& graph, Activation& x, float keep) {
  if (keep >= 1) return x;
  Reading& read = graph.read(x, Uses::forward);
  Activation& y = graph.output_over(x);
  auto operation = graph.backend().dropout(
      {.count = x.value().size(), .keep = keep, .element = x.value().element()});
  graph.add(std::make_unique<DropoutLayer>(std::move(operation), graph.backend().memory(),
                                           graph.next_dropout(), read, y),
            CopySpec{});
  return y;
}

}  // namespace sterna::nets
