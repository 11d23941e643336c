#include "nets/layers/affine.h"

namespace sterna::nets {

Affine affine_parameters(Graph& graph, const AffineOptions& options, Shape weights) {
  Parameter& w = graph.parameter(ParameterSpec{.name = options.name + "/weights",
                                               .shape = std::move(weights),
                                               .role = Role::weight,
                                               .logits = options.logits,
                                               .decay = options.decay,
                                               .stddev = options.stddev,
                                               .limit = options.limit,
                                               .whole_normal = options.whole_normal});
  if (!options.biases) return {w, nullptr};
  Parameter& b = graph.parameter(ParameterSpec{.name = options.name + "/biases",
                                               .shape = {options.outputs},
                                               .role = Role::bias,
                                               .logits = options.logits,
                                               .constant = options.bias});
  return {w, &b};
}

}  // namespace sterna::nets
