// A multilayer perceptron: dense layers with a ReLU after each but the last. Almost all of its
// parameters lie in large matrices, so it is what loads the network rather than the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nets/graph/graph.h"

namespace sterna::nets {

/// Builds the net for `batch` images of 28 × 28 × 1 into `graph`, with hidden layers fc1, fc2, …
/// of these widths; the output is the logits {batch, 10}. With {4096, 512}: 5,318,154 parameters.
///
/// Weights start as truncated normals of σ = √(3 / (inputs + outputs)), biases as 0. [The rule
/// behind the numbers of TernGrad's LeNet: 0.0767 for its 500 → 10, and 0.048 for 800 → 500, as
/// Caffe's unpadded LeNet has it. Cut off at 2σ that is Glorot's variance, 2 / (in + out).]
Activation& build_mlp(Graph& graph, std::size_t batch, std::span<const std::uint32_t> hidden);

}  // namespace sterna::nets
