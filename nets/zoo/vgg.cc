// VGG (Simonyan and Zisserman, 2014), configurations A and D (16 layers), with batch norm after
// each convolution as TernGrad has them. For images of 224 × 224 × 3 and 1001 classes 132,867,433
// and 138,361,641 parameters.
#include <array>
#include <span>

#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

struct Stage {
  std::size_t layers;
  std::size_t channels;
};

NetOutputs build(Graph& graph, const ZooOptions& options, std::span<const Stage> stages) {
  const NormedConvolutions normed{.graph = graph, .options = options, .bn_decay = 0.999F};
  int number = 0;
  const auto named = [&](const char* kind) { return kind + std::to_string(++number); };
  Activation* x = &images_input(graph, options);
  for (const Stage& stage : stages) {
    for (std::size_t i = 0; i < stage.layers; ++i) {
      x = &normed(*x, named("conv"), stage.channels, square(3));
    }
    x = &max_pool(graph, *x, square(2, 2));
  }
  for (int i = 0; i < 2; ++i) {
    const std::size_t outputs = options.channels(4096);
    x = &connected(graph, *x,
                   {.name = named("fc"), .outputs = outputs, .limit = xavier(units(*x), outputs)},
                   options.keep);
  }
  return {dense(graph, *x,
                {.name = named("fc"),
                 .outputs = options.images.classes,
                 .limit = xavier(units(*x), options.images.classes),
                 .logits = true})};
}

NetOutputs build_a(Graph& graph, const ZooOptions& options) {
  constexpr std::array<Stage, 5> kStages{{{1, 64}, {1, 128}, {2, 256}, {2, 512}, {2, 512}}};
  return build(graph, options, kStages);
}

NetOutputs build_16(Graph& graph, const ZooOptions& options) {
  constexpr std::array<Stage, 5> kStages{{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};
  return build(graph, options, kStages);
}

}  // namespace

extern const ZooNet kVggA, kVgg16;
const ZooNet kVggA{.name = "vgg_a", .build = build_a, .usual = kImageNet};
const ZooNet kVgg16{.name = "vgg_16", .build = build_16, .usual = kImageNet};

}  // namespace sterna::nets
