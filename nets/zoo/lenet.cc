#include "nets/zoo/lenet.h"

namespace sterna::nets {

Activation& build_lenet(Graph& graph, std::size_t batch) {
  const Window five{.kernel = 5, .stride = 1, .padding = Padding::same};
  const Window halve{.kernel = 2, .stride = 2, .padding = Padding::same};

  // With one channel, row-major images and channels-last ones are the same bytes.
  Activation* x = &graph.input({batch, 1, 28, 28}, Layout::channels_last);
  // The original has each ReLU before the pooling. They commute, gradients included: both are
  // monotone, and where a window's maximum is not positive, none of its gradient passes either
  // way. After the pooling there is a quarter of the work.
  x = &graph.convolution(*x, {.name = "conv1", .outputs = 20, .stddev = 0.05F}, five);
  x = &graph.relu(graph.max_pool(*x, halve));
  x = &graph.convolution(*x, {.name = "conv2", .outputs = 50, .stddev = 0.05F}, five);
  x = &graph.relu(graph.max_pool(*x, halve));
  x = &graph.flatten(*x);
  x = &graph.relu(graph.inner_product(*x, {.name = "fc3", .outputs = 500, .stddev = 0.048F}));
  return graph.inner_product(*x, {.name = "logits", .outputs = 10, .stddev = 0.0767F});
}

}  // namespace sterna::nets
