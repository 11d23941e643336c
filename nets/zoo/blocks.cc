#include "nets/zoo/blocks.h"

#include <cmath>

namespace sterna::nets {

float xavier(std::size_t inputs, std::size_t outputs) {
  return static_cast<float>(std::sqrt(6.0 / static_cast<double>(inputs + outputs)));
}

Activation& NormedConvolutions::operator()(Activation& x, const std::string& name,
                                           std::size_t outputs, const Window& window,
                                           bool relu) const {
  const std::size_t area = window.down().kernel * window.across().kernel;
  const std::size_t channels = options.channels(outputs);
  Activation& convolved = convolution(graph, x,
                                      {.name = name,
                                       .outputs = channels,
                                       .stddev = stddev,
                                       .limit = xavier(area * x.shape()[1], area * channels),
                                       .biases = false},
                                      window);
  return batch_norm(graph, convolved,
                    {.name = name,
                     .epsilon = epsilon,
                     .decay = options.bn_decay > 0 ? options.bn_decay : bn_decay,
                     .scale = bn_scale || options.bn_scale,
                     .relu = relu});
}

Activation& connected(Graph& graph, Activation& x, const AffineOptions& layer, float keep) {
  return dropout(graph, relu(graph, dense(graph, x, layer)), keep);
}

Activation& global_average(Graph& graph, Activation& x) {
  return average_pool(graph, x,
                      {.kernel = x.shape()[2], .padding = Padding::valid, .width = x.shape()[3]});
}

}  // namespace sterna::nets
