// AlexNet on one GPU (Krizhevsky, "One weird trick", 2014) as TernGrad and TF-slim have it: no
// batch norm, no local response normalization. For images of 224 × 224 × 3 and 1001 classes
// 50,308,009 parameters. fc6 sees whatever is left of the image: 5 × 5 there.
#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

NetOutputs build(Graph& graph, const ZooOptions& options) {
  const Window pool = square(3, 2, Padding::valid);
  const auto convolved = [&](Activation& x, const char* name, std::size_t original,
                             const Window& window) -> Activation& {
    const std::size_t area = window.kernel * window.kernel, outputs = options.channels(original);
    return relu(graph, convolution(graph, x,
                                   {.name = name,
                                    .outputs = outputs,
                                    .limit = xavier(area * x.shape()[1], area * outputs),
                                    .bias = 0.1F},
                                   window));
  };
  const auto wide = [&](Activation& x, const char* name) -> Activation& {
    return connected(
        graph, x, {.name = name, .outputs = options.channels(4096), .stddev = 0.005F, .bias = 0.1F},
        options.keep);
  };
  Activation* x = &images_input(graph, options);
  x = &max_pool(graph, convolved(*x, "conv1", 64, square(11, 4, Padding::valid)), pool);
  x = &max_pool(graph, convolved(*x, "conv2", 192, square(5)), pool);
  x = &convolved(*x, "conv3", 384, square(3));
  x = &convolved(*x, "conv4", 384, square(3));
  x = &max_pool(graph, convolved(*x, "conv5", 256, square(3)), pool);
  return {
      dense(graph, wide(wide(*x, "fc6"), "fc7"),
            {.name = "fc8", .outputs = options.images.classes, .stddev = 0.005F, .logits = true})};
}

}  // namespace

extern const ZooNet kAlexnetV2;
const ZooNet kAlexnetV2{.name = "alexnet_v2", .build = build, .usual = kImageNet, .smallest = 67};

}  // namespace sterna::nets
