// Residual nets (He et al., "Deep residual learning", 2015): resnet_20 for CIFAR, its shortcuts
// without parameters (option A), 269,722 parameters for 10 classes; and resnet_50 as torchvision's
// v1.5, whose 3 × 3 convolutions have the stride, 25,557,032 for 1000 classes.
#include <array>
#include <cmath>

#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

/// Kaiming He's normal distribution by outputs, whose own deviation is 0.8796 of a truncated one's.
NormedConvolutions with_deviation(NormedConvolutions normed, std::size_t outputs,
                                  const Window& window) {
  const auto fan = static_cast<float>(window.kernel * window.kernel * outputs);
  normed.stddev = std::sqrt(2.0F / fan) / 0.8796F;
  return normed;
}

struct Blocks {
  Graph& graph;
  const ZooOptions& options;
  float decay;

  Activation& normed(Activation& x, const std::string& name, std::size_t outputs,
                     const Window& window, bool relu) const {
    const NormedConvolutions plain{
        .graph = graph, .options = options, .bn_decay = decay, .epsilon = 1e-5F, .bn_scale = true};
    return with_deviation(plain, options.channels(outputs), window)(x, name, outputs, window, relu);
  }

  /// Two 3 × 3 convolutions.
  Activation& basic(Activation& x, const std::string& name, std::size_t channels,
                    std::size_t stride) const {
    Activation& first = normed(x, name + "/conv1", channels, padded(3, stride, 1), true);
    Activation& second = normed(first, name + "/conv2", channels, padded(3, 1, 1), false);
    const std::size_t outputs = options.channels(channels);
    Activation& shortcut =
        stride == 1 && x.shape()[1] == outputs ? x : subsample(graph, x, outputs, stride);
    return rectified_sum(graph, second, shortcut);
  }

  /// 1 × 1, 3 × 3 and 1 × 1 to four times as many channels.
  Activation& bottleneck(Activation& x, const std::string& name, std::size_t channels,
                         std::size_t stride, bool projects) const {
    Activation* y = &normed(x, name + "/conv1", channels, square(1), true);
    y = &normed(*y, name + "/conv2", channels, padded(3, stride, 1), true);
    y = &normed(*y, name + "/conv3", 4 * channels, square(1), false);
    Activation& shortcut =
        projects ? normed(x, name + "/shortcut", 4 * channels, padded(1, stride, 0), false) : x;
    return rectified_sum(graph, *y, shortcut);
  }

  NetOutputs logits(Activation& x) const {
    Activation& mean = global_average(graph, x);
    const float limit = 1 / std::sqrt(static_cast<float>(units(mean)));
    return {dense(
        graph, mean,
        {.name = "logits", .outputs = options.images.classes, .limit = limit, .logits = true})};
  }
};

std::string numbered(std::size_t stage, std::size_t block) {
  return "block" + std::to_string(stage) + "_" + std::to_string(block);
}

NetOutputs build_20(Graph& graph, const ZooOptions& options) {
  const Blocks blocks{graph, options, 0.9F};
  constexpr std::array<std::size_t, 3> kChannels{16, 32, 64};
  Activation* x =
      &blocks.normed(images_input(graph, options), "conv1", kChannels[0], padded(3, 1, 1), true);
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    for (std::size_t block = 0; block < 3; ++block) {
      const std::size_t stride = stage > 0 && block == 0 ? 2 : 1;
      x = &blocks.basic(*x, numbered(stage + 1, block + 1), kChannels[stage], stride);
    }
  }
  return blocks.logits(*x);
}

NetOutputs build_50(Graph& graph, const ZooOptions& options) {
  const Blocks blocks{graph, options, 0.9F};
  constexpr std::array<std::size_t, 4> kBlocks{3, 4, 6, 3};
  Activation* x = &blocks.normed(images_input(graph, options), "conv1", 64, padded(7, 2, 3), true);
  x = &max_pool(graph, *x, padded(3, 2, 1));
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    for (std::size_t block = 0; block < kBlocks[stage]; ++block) {
      const std::size_t stride = stage > 0 && block == 0 ? 2 : 1;
      x = &blocks.bottleneck(*x, numbered(stage + 1, block + 1), std::size_t{64} << stage, stride,
                             block == 0);
    }
  }
  return blocks.logits(*x);
}

}  // namespace

extern const ZooNet kResnet20, kResnet50;
const ZooNet kResnet20{.name = "resnet_20", .build = build_20, .usual = {32, 32, 3, 10}};
const ZooNet kResnet50{.name = "resnet_50", .build = build_50, .usual = kImageNet};

}  // namespace sterna::nets
