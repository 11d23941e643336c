#include "nets/layers/loss_head.h"

#include <utility>

namespace sterna::nets {

LossHead::LossHead(std::unique_ptr<Loss> operation, Reading& logits, const HeadLoss& options)
    : operation_(std::move(operation)), logits_(logits), options_(options) {}

float LossHead::evaluate(std::span<const float> logits, std::span<const std::uint16_t> labels,
                         std::span<float> gradient) const {
  if (options_.target) return squared_error(logits, *options_.target, gradient);
  return softmax_cross_entropy(logits, labels, classes(), gradient);
}

void LossHead::backward(Completion& /*completion*/) {
  operation_->backward(logits_.value(), *logits_.gradient());
}

LossHead& loss_head(Graph& graph, Activation& logits, const HeadLoss& options) {
  Reading& read = graph.read(logits);
  auto operation = graph.backend().loss({.batch = logits.shape()[0],
                                         .classes = logits.shape()[1],
                                         .cross_entropy = options.cross_entropy,
                                         .target = options.target,
                                         .element = logits.value().element(),
                                         .passes = options.passes});
  return graph.add(std::make_unique<LossHead>(std::move(operation), read, options));
}

}  // namespace sterna::nets
