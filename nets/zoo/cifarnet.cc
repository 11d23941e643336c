// TernGrad's CifarNet ("cifar10_alexnet_24", from TensorFlow's deep_cnn tutorial): for images of
// 24 × 24 × 3 and 10 classes 1,068,298 parameters. Only fc3 and fc4 decay.
#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

NetOutputs build(Graph& graph, const ZooOptions& options) {
  constexpr LrnOptions kLrn{.radius = 4, .bias = 1, .alpha = 0.001F / 9, .beta = 0.75F};
  const auto convolved = [&](Activation& x, const char* name, float bias) -> Activation& {
    return relu(graph, convolution(graph, x,
                                   {.name = name,
                                    .outputs = options.channels(64),
                                    .stddev = 0.05F,
                                    .bias = bias,
                                    .decay = false},
                                   square(5)));
  };
  const auto connected = [&](Activation& x, const char* name, std::size_t outputs) -> Activation& {
    return relu(
        graph,
        dense(graph, x,
              {.name = name, .outputs = options.channels(outputs), .stddev = 0.04F, .bias = 0.1F}));
  };
  Activation* x = &convolved(images_input(graph, options), "conv1", 0);
  x = &lrn(graph, max_pool(graph, *x, square(3, 2)), kLrn);
  x = &convolved(*x, "conv2", 0.1F);
  x = &max_pool(graph, lrn(graph, *x, kLrn), square(3, 2));
  x = &connected(*x, "fc3", 384);
  x = &connected(*x, "fc4", 192);
  return {dense(graph, *x,
                {.name = "logits",
                 .outputs = options.images.classes,
                 .stddev = 1.0F / 192,
                 .decay = false,
                 .logits = true})};
}

}  // namespace

extern const ZooNet kCifarnet;
const ZooNet kCifarnet{.name = "cifarnet", .build = build, .usual = {24, 24, 3, 10}, .smallest = 4};

}  // namespace sterna::nets
