// GoogLeNet (Szegedy et al., 2014) as TF-slim's Inception v1, which TernGrad trains: batch norm
// after each convolution, 3 × 3 in place of 5 × 5, no auxiliary heads. For images of 224 × 224 × 3
// and 1001 classes 6,618,649 parameters. Whatever is left of the image is averaged: 7 × 7 there.
#include <cmath>

#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

/// Output channels of an Inception module's branches.
struct Mixed {
  const char* name;
  std::size_t one;             // 1 × 1
  std::size_t reduced, three;  // 1 × 1, 3 × 3
  std::size_t second_reduced, second_three;
  std::size_t pooled;  // maximum, 1 × 1
};

Activation& mixed(const NormedConvolutions& normed, Activation& x, const Mixed& m) {
  const std::string name = m.name;
  Activation& one = normed(x, name + "/b0", m.one, square(1));
  Activation& three =
      normed(normed(x, name + "/b1a", m.reduced, square(1)), name + "/b1b", m.three, square(3));
  Activation& second = normed(normed(x, name + "/b2a", m.second_reduced, square(1)), name + "/b2b",
                              m.second_three, square(3));
  Activation& pooled =
      normed(max_pool(normed.graph, x, square(3)), name + "/b3", m.pooled, square(1));
  return concat(normed.graph, {&one, &three, &second, &pooled});
}

NetOutputs build(Graph& graph, const ZooOptions& options) {
  const NormedConvolutions normed{.graph = graph, .options = options, .stddev = 0.01F};
  const auto pooled = [&](Activation& x, std::size_t kernel) -> Activation& {
    return max_pool(graph, x, square(kernel, 2));
  };
  Activation* x = &images_input(graph, options);
  x = &pooled(normed(*x, "conv1", 64, square(7, 2)), 3);
  x = &normed(normed(*x, "conv2a", 64, square(1)), "conv2b", 192, square(3));
  x = &pooled(*x, 3);
  x = &mixed(normed, *x, {"3b", 64, 96, 128, 16, 32, 32});
  x = &mixed(normed, *x, {"3c", 128, 128, 192, 32, 96, 64});
  x = &pooled(*x, 3);
  x = &mixed(normed, *x, {"4b", 192, 96, 208, 16, 48, 64});
  x = &mixed(normed, *x, {"4c", 160, 112, 224, 24, 64, 64});
  x = &mixed(normed, *x, {"4d", 128, 128, 256, 24, 64, 64});
  x = &mixed(normed, *x, {"4e", 112, 144, 288, 32, 64, 64});
  x = &mixed(normed, *x, {"4f", 256, 160, 320, 32, 128, 128});
  x = &pooled(*x, 2);
  x = &mixed(normed, *x, {"5b", 256, 160, 320, 32, 128, 128});
  x = &mixed(normed, *x, {"5c", 384, 192, 384, 48, 128, 128});
  x = &dropout(graph, global_average(graph, *x), options.keep);
  // TF-slim's variance scaling: 2.6 / inputs, which is 2 / inputs after the cut at two deviations.
  const float stddev = std::sqrt(2.6F / static_cast<float>(units(*x)));
  return {dense(
      graph, *x,
      {.name = "logits", .outputs = options.images.classes, .stddev = stddev, .logits = true})};
}

}  // namespace

extern const ZooNet kGooglenet;
const ZooNet kGooglenet{.name = "googlenet", .build = build, .usual = kImageNet};

}  // namespace sterna::nets
