#include "nets/net_heads.h"

namespace sterna::nets {

NetHeads add_heads(Graph& graph, const NetOutputs& outputs, double label_smoothing,
                   std::size_t passes) {
  const float share = 1.0F / static_cast<float>(passes);
  LossHead* auxiliary = nullptr;
  if (outputs.auxiliary != nullptr) {
    auxiliary = graph.training_only([&] {
      return &loss_head(graph, *outputs.auxiliary,
                        {.cross_entropy = {.smoothing = label_smoothing,
                                           .weight = share * outputs.auxiliary_weight},
                         .passes = passes});
    });
  }
  return {loss_head(graph, outputs.logits,
                    {.cross_entropy = {.smoothing = label_smoothing, .weight = share},
                     .target = outputs.target,
                     .passes = passes}),
          auxiliary};
}

}  // namespace sterna::nets
