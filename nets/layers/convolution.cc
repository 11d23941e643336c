#include "nets/backend/convolution.h"

#include "nets/layers/affine.h"

namespace sterna::nets {

Activation& convolution(Graph& graph, Activation& x, const AffineOptions& options,
                        const Window& window, std::size_t groups) {
  const Shape in = x.shape();
  const Slide down = window.down(), across = window.across();
  Reading& read = graph.read(x);
  const Affine affine = affine_parameters(
      graph, options, {options.outputs, in[1] / groups, down.kernel, across.kernel});
  Activation& y = graph.output({in[0], options.outputs, down.out(in[2]), across.out(in[3])},
                               Layout::channels_last);
  const ConvolutionSpec spec{.input = in,
                             .out_channels = options.outputs,
                             .window = window,
                             .groups = groups,
                             .bias = options.biases,
                             .input_gradient = read.gradient() != nullptr,
                             .element = y.value().element(),
                             .backward = graph.trains()};
  graph.add(std::make_unique<AffineLayer<Convolution>>(graph.backend().convolution(spec), affine,
                                                       read, y),
            spec);
  return y;
}

}  // namespace sterna::nets
