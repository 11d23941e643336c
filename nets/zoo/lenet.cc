// LeNet as TernGrad trains it (Wen et al., NIPS 2017): Caffe's sizes, but padded convolutions and
// a ReLU after each. For images of 28 × 28 × 1 and 10 classes: 1,256,080 parameters.
#include "nets/layers/layers.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {
namespace {

NetOutputs build(Graph& graph, const ZooOptions& options) {
  const Window five{.kernel = 5, .stride = 1, .padding = Padding::same};
  const Window halve{.kernel = 2, .stride = 2, .padding = Padding::same};

  Activation* x = &images_input(graph, options);
  // The original has each ReLU before the pooling. They commute, gradients included: both are
  // monotone, and where a window's maximum is not positive, none of its gradient passes either
  // way. After the pooling there is a quarter of the work.
  x = &convolution(graph, *x, {.name = "conv1", .outputs = options.channels(20), .stddev = 0.05F},
                   five);
  x = &relu(graph, max_pool(graph, *x, halve));
  x = &convolution(graph, *x, {.name = "conv2", .outputs = options.channels(50), .stddev = 0.05F},
                   five);
  x = &relu(graph, max_pool(graph, *x, halve));
  x = &flatten(graph, *x);
  x = &relu(graph,
            dense(graph, *x, {.name = "fc3", .outputs = options.channels(500), .stddev = 0.048F}));
  return {dense(
      graph, *x,
      {.name = "logits", .outputs = options.images.classes, .stddev = 0.0767F, .logits = true})};
}

}  // namespace

extern const ZooNet kLenet;
const ZooNet kLenet{.name = "lenet", .build = build};

}  // namespace sterna::nets
