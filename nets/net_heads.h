// The losses behind a net's outputs.
#pragma once

#include <cstddef>

#include "nets/graph/graph.h"
#include "nets/layers/loss_head.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {

/// The ends of a net in its graph.
struct NetHeads {
  LossHead& main;
  LossHead* auxiliary = nullptr;  ///< only in training
};

/// Adds the losses behind a net's outputs: of a step's `passes`, each counts as one of so many.
NetHeads add_heads(Graph& graph, const NetOutputs& outputs, double label_smoothing,
                   std::size_t passes = 1);

}  // namespace sterna::nets
