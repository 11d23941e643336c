#include "nets/layers/loss_head.h"

#include "nets/tensor/loss.h"

namespace sterna::nets {

void LossHead::backward(Completion& /*completion*/) {
  loss_ = softmax_cross_entropy(logits_.value().values(), labels_, classes(),
                                logits_.gradient()->values());
}

LossHead& loss_head(Graph& graph, Activation& logits) {
  Reading& read = graph.read(logits);
  return graph.add(std::make_unique<LossHead>(read));
}

}  // namespace sterna::nets
