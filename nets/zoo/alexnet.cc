// TernGrad's AlexNet: two towers as in the paper (Krizhevsky et al., 2012), batch norm after each
// convolution as well as local response normalization. For images of 224 × 224 × 3 and 1001 classes
// 60,969,321 parameters.
#include <array>

#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

using Towers = std::array<Activation*, 2>;

NetOutputs build(Graph& graph, const ZooOptions& options) {
  constexpr LrnOptions kLrn{.radius = 2, .bias = 2, .alpha = 1e-4F, .beta = 0.75F};
  const Window pool = square(3, 2, Padding::valid);
  const NormedConvolutions normed{.graph = graph, .options = options, .stddev = 0.01F};
  const auto each = [&](const Towers& x, const std::string& name, std::size_t outputs,
                        const Window& window) {
    return Towers{&normed(*x[0], name + "_1", outputs, window),
                  &normed(*x[1], name + "_2", outputs, window)};
  };
  const auto pooled = [&](const Towers& x) {
    return Towers{&max_pool(graph, lrn(graph, *x[0], kLrn), pool),
                  &max_pool(graph, lrn(graph, *x[1], kLrn), pool)};
  };
  const auto wide = [&](Activation& x, const char* name) -> Activation& {
    return connected(
        graph, x, {.name = name, .outputs = options.channels(4096), .stddev = 0.005F, .bias = 0.1F},
        options.keep);
  };
  Activation& input = images_input(graph, options);
  Towers x = pooled(each({&input, &input}, "conv1", 48, square(11, 4)));
  x = pooled(each(x, "conv2", 128, square(5)));
  Activation& both = concat(graph, {x[0], x[1]});
  x = each({&both, &both}, "conv3", 192, square(3));
  x = each(x, "conv4", 192, square(3));
  x = each(x, "conv5", 128, square(3));
  Activation& features =
      concat(graph, {&max_pool(graph, *x[0], pool), &max_pool(graph, *x[1], pool)});
  return {dense(
      graph, wide(wide(features, "fc6"), "fc7"),
      {.name = "logits", .outputs = options.images.classes, .stddev = 0.01F, .logits = true})};
}

}  // namespace

extern const ZooNet kAlexnet;
const ZooNet kAlexnet{.name = "alexnet", .build = build, .usual = kImageNet, .smallest = 61};

}  // namespace sterna::nets
