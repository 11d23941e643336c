// What a graph is made of, for who draws it up in another form: of each layer its operation in
// evaluation, what it reads, what it writes, and its parameters.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "nets/backend/operation.h"

namespace sterna::nets {

class Activation;
struct Parameter;

/// Along the channels, the first input's first.
struct ConcatSpec {};
/// Of two, element by element.
struct AddSpec {};
/// What it reads, as it is: dropout.
struct CopySpec {};
/// Every stride-th pixel in both directions, and channels of zeros behind, up to so many.
struct SubsampleSpec {
  std::size_t channels = 0;
  std::size_t stride = 1;
};

/// Operations of a backend, and those that layers do themselves.
using NodeSpec = std::variant<ConvolutionSpec, InnerProductSpec, MaxPoolSpec, AveragePoolSpec,
                              BatchNormSpec, LrnSpec, EltwiseSpec, RectifiedSumSpec, RelayoutSpec,
                              ConcatSpec, AddSpec, CopySpec, SubsampleSpec>;

/// Its activations and parameters are the graph's. Written in place or not, what it writes is
/// another activation than what it reads.
struct Node {
  NodeSpec what;
  std::vector<Activation*> inputs;
  Activation* output = nullptr;
  std::vector<Parameter*> parameters;  ///< in the order in which the layer asked for them
};

}  // namespace sterna::nets
