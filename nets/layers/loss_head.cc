#include "nets/layers/loss_head.h"

#include "nets/tensor/elementwise.h"

namespace sterna::nets {

LossHead::LossHead(Reading& logits, const CrossEntropy& options)
    : logits_(logits), options_(options) {
  if (logits.value().element() == Element::fp32) return;
  values_.resize(logits.value().size());
  gradient_.resize(logits.value().size());
}

void LossHead::backward(Completion& /*completion*/) {
  Tensor& gradient = *logits_.gradient();
  if (gradient.element() == Element::fp32) {
    loss_ = softmax_cross_entropy(logits_.value().values(), labels_, classes(), gradient.values(),
                                  options_);
    return;
  }
  read(logits_.value(), 0, values_);
  loss_ = softmax_cross_entropy(values_, labels_, classes(), gradient_, options_);
  write(gradient_, gradient, 0);
}

LossHead& loss_head(Graph& graph, Activation& logits, const CrossEntropy& options) {
  Reading& read = graph.read(logits);
  return graph.add(std::make_unique<LossHead>(read, options));
}

}  // namespace sterna::nets
