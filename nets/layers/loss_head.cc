#include "nets/layers/loss_head.h"

namespace sterna::nets {

void LossHead::backward(Completion& /*completion*/) {
  loss_ = softmax_cross_entropy(logits_.value().values(), labels_, classes(),
                                logits_.gradient()->values(), options_);
}

LossHead& loss_head(Graph& graph, Activation& logits, const CrossEntropy& options) {
  Reading& read = graph.read(logits);
  return graph.add(std::make_unique<LossHead>(read, options));
}

}  // namespace sterna::nets
