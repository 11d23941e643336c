// The net of Schlag's tutorial on distributed TensorFlow: 100 sigmoids and logits, weights N(0, 1),
// biases 0. For images of 28 x 28 x 1 and 10 classes: 79,510 parameters. From so wide a start plain
// gradient descent is far from its end after 20 epochs, and more workers show at once.
#include "nets/layers/layers.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kHidden = 100;

NetOutputs build(Graph& graph, const ZooOptions& options) {
  AffineOptions layer{
      .name = "fc1", .outputs = options.channels(kHidden), .stddev = 1, .whole_normal = true};
  Activation& hidden = sigmoid(graph, dense(graph, images_input(graph, options), layer));
  layer.name = "logits";
  layer.outputs = options.images.classes;
  layer.logits = true;
  return {dense(graph, hidden, layer)};
}

}  // namespace

extern const ZooNet kSchlag;
const ZooNet kSchlag{.name = "schlag", .build = build};

}  // namespace sterna::nets
