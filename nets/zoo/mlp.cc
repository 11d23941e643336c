// A multilayer perceptron: images of any size, dense layers fc1, fc2, … with a ReLU after each,
// and logits. Almost all of its parameters lie in large matrices, so it is what loads the
// network rather than the processor. With {4096, 512} on 28 × 28 × 1 and
// 10 classes: 5,318,154 parameters. fc1 reads a pixel's channels beside each other, as TensorFlow
// flattens an image.
//
// Weights start as truncated normals of σ = √(3 / (inputs + outputs)), biases as 0. [The rule
// behind the numbers of TernGrad's LeNet: 0.0767 for its 500 → 10, and 0.048 for 800 → 500, as
// Caffe's unpadded LeNet has it. Cut off at 2σ that is Glorot's variance, 2 / (in + out).]
#include <cmath>

#include "nets/layers/layers.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {
namespace {

AffineOptions layer(std::string name, Activation& x, std::size_t outputs) {
  const auto inputs = x.value().size() / x.shape()[0];
  return {.name = std::move(name),
          .outputs = outputs,
          .stddev = static_cast<float>(std::sqrt(3.0 / static_cast<double>(inputs + outputs)))};
}

NetOutputs build(Graph& graph, const ZooOptions& options) {
  const std::span<const std::uint32_t> hidden = options.hidden;
  Activation* x = &images_input(graph, options);
  for (std::size_t i = 0; i < hidden.size(); ++i)
    x = &relu(graph, dense(graph, *x, layer("fc" + std::to_string(i + 1), *x, hidden[i])));
  AffineOptions logits = layer("logits", *x, options.images.classes);
  logits.logits = true;
  return {dense(graph, *x, logits)};
}

constexpr std::uint32_t kHidden[] = {300, 100};

}  // namespace

extern const ZooNet kMlp;
const ZooNet kMlp{.name = "mlp", .build = build, .takes_hidden = true, .hidden = kHidden};

}  // namespace sterna::nets
