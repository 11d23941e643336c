// LeNet as TernGrad trains it (Wen et al., NIPS 2017): Caffe's sizes, but padded convolutions and
// a ReLU after each.
#pragma once

#include <cstddef>

#include "nets/graph/graph.h"

namespace sterna::nets {

/// Builds the net for `batch` images of 28 × 28 × 1 into `graph`; the output is the logits
/// {batch, 10}. 1,256,080 parameters.
Activation& build_lenet(Graph& graph, std::size_t batch);

}  // namespace sterna::nets
