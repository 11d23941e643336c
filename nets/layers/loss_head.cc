#include "nets/layers/loss_head.h"

#include "nets/tensor/elementwise.h"

namespace sterna::nets {

LossHead::LossHead(Reading& logits, const HeadLoss& options) : logits_(logits), options_(options) {
  if (logits.value().element() == Element::fp32) return;
  values_.resize(logits.value().size());
  gradient_.resize(logits.value().size());
}

float LossHead::compute(std::span<const float> logits, std::span<const std::uint16_t> labels,
                        std::span<float> gradient, const CrossEntropy& options) const {
  if (options_.target) return squared_error(logits, *options_.target, gradient, options.weight);
  return softmax_cross_entropy(logits, labels, classes(), gradient, options);
}

float LossHead::evaluate(std::span<const float> logits, std::span<const std::uint16_t> labels,
                         std::span<float> gradient) const {
  return compute(logits, labels, gradient, {});
}

void LossHead::backward(Completion& /*completion*/) {
  Tensor& gradient = *logits_.gradient();
  if (gradient.element() == Element::fp32) {
    loss_ = compute(logits_.value().values(), labels_, gradient.values(), options_.cross_entropy);
    return;
  }
  read(logits_.value(), 0, values_);
  loss_ = compute(values_, labels_, gradient_, options_.cross_entropy);
  write(gradient_, gradient, 0);
}

LossHead& loss_head(Graph& graph, Activation& logits, const HeadLoss& options) {
  Reading& read = graph.read(logits);
  return graph.add(std::make_unique<LossHead>(read, options));
}

}  // namespace sterna::nets
