#include "nets/backend/inner_product.h"
#include "nets/layers/affine.h"

namespace sterna::nets {

Activation& dense(Graph& graph, Activation& x, const AffineOptions& options) {
  const std::size_t batch = x.shape()[0], in = x.value().size() / batch;
  Reading& read = graph.read(x);
  const Affine affine = affine_parameters(graph, options, {options.outputs, in});
  Activation& y = graph.output({batch, options.outputs}, Layout::row_major);
  const InnerProductSpec spec{.batch = batch,
                              .in = in,
                              .out = options.outputs,
                              .bias = options.biases,
                              .input_gradient = read.gradient() != nullptr,
                              .element = y.value().element(),
                              .backward = graph.trains()};
  graph.add(std::make_unique<AffineLayer<InnerProduct>>(graph.backend().inner_product(spec), affine,
                                                        read, y),
            spec);
  return y;
}

}  // namespace sterna::nets
