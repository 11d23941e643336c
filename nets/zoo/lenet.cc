// LeNet as TernGrad trains it (Wen et al., NIPS 2017): Caffe's sizes, but padded convolutions and
// a ReLU after each. Images of 28 × 28 × 1 to 10 logits; 1,256,080 parameters.
#include "nets/layers/layers.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {
namespace {

Activation& build(Graph& graph, std::size_t batch, std::span<const std::uint32_t> /*hidden*/) {
  const Window five{.kernel = 5, .stride = 1, .padding = Padding::same};
  const Window halve{.kernel = 2, .stride = 2, .padding = Padding::same};

  // With one channel, row-major images and channels-last ones are the same bytes.
  Activation* x = &graph.input({batch, 1, 28, 28}, Layout::channels_last);
  // The original has each ReLU before the pooling. They commute, gradients included: both are
  // monotone, and where a window's maximum is not positive, none of its gradient passes either
  // way. After the pooling there is a quarter of the work.
  x = &convolution(graph, *x, {.name = "conv1", .outputs = 20, .stddev = 0.05F}, five);
  x = &relu(graph, max_pool(graph, *x, halve));
  x = &convolution(graph, *x, {.name = "conv2", .outputs = 50, .stddev = 0.05F}, five);
  x = &relu(graph, max_pool(graph, *x, halve));
  x = &flatten(graph, *x);
  x = &relu(graph, dense(graph, *x, {.name = "fc3", .outputs = 500, .stddev = 0.048F}));
  return dense(graph, *x, {.name = "logits", .outputs = 10, .stddev = 0.0767F, .logits = true});
}

}  // namespace

extern const ZooNet kLenet;
const ZooNet kLenet{.name = "lenet", .build = build};

}  // namespace sterna::nets
