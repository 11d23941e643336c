// Inception v3 (Szegedy et al., "Rethinking the Inception architecture", 2015) as TernGrad has it
// from TF-slim, with its auxiliary head (0.4 of the loss, in training only) and label smoothing.
// For images of 299 × 299 × 3 and 1001 classes 27,145,970 parameters, the head's included.
#include "nets/zoo/blocks.h"

namespace sterna::nets {
namespace {

class InceptionV3 {
 public:
  InceptionV3(Graph& graph, const ZooOptions& options)
      : graph_(graph),
        options_(options),
        normed_{.graph = graph, .options = options, .stddev = 0.1F} {}

  NetOutputs build() {
    Activation* x = &images_input(graph_, options_);
    x = &normed_(*x, "conv0", 32, square(3, 2, Padding::valid));
    x = &normed_(*x, "conv1", 32, square(3, 1, Padding::valid));
    x = &halved(normed_(*x, "conv2", 64, square(3)));
    x = &normed_(*x, "conv3", 80, square(1));
    x = &halved(normed_(*x, "conv4", 192, square(3, 1, Padding::valid)));
    x = &at_35("mixed_256a", *x, 32);
    x = &at_35("mixed_288a", *x, 64);
    x = &at_35("mixed_288b", *x, 64);
    x = &to_17("mixed_768a", *x);
    x = &at_17("mixed_768b", *x, 128);
    x = &at_17("mixed_768c", *x, 160);
    x = &at_17("mixed_768d", *x, 160);
    x = &at_17("mixed_768e", *x, 192);
    Activation* auxiliary = graph_.training_only([&] { return &head(*x); });
    x = &to_8("mixed_1280a", *x);
    x = &at_8("mixed_2048a", *x);
    x = &at_8("mixed_2048b", *x);
    x = &dropout(graph_, global_average(graph_, *x), options_.keep);
    return {dense(graph_, *x,
                  {.name = "logits",
                   .outputs = options_.images.classes,
                   .stddev = 0.01F,
                   .logits = true}),
            auxiliary, 0.4F};
  }

 private:
  using Name = const std::string&;

  Activation& halved(Activation& x) { return max_pool(graph_, x, square(3, 2, Padding::valid)); }
  Activation& averaged(Activation& x) {
    return average_pool(graph_, x, square(3), options_.pool_padding);
  }
  Activation& one(Activation& x, Name name, std::size_t outputs) {
    return normed_(x, name, outputs, square(1));
  }

  Activation& at_35(Name name, Activation& x, std::size_t pooled) {
    Activation& a = one(x, name + "/b0", 64);
    Activation& b = normed_(one(x, name + "/b1a", 48), name + "/b1b", 64, square(5));
    Activation* c = &normed_(one(x, name + "/b2a", 64), name + "/b2b", 96, square(3));
    c = &normed_(*c, name + "/b2c", 96, square(3));
    Activation& d = one(averaged(x), name + "/b3", pooled);
    return concat(graph_, {&a, &b, c, &d});
  }

  Activation& to_17(Name name, Activation& x) {
    Activation& a = normed_(x, name + "/b0", 384, square(3, 2, Padding::valid));
    Activation* b = &normed_(one(x, name + "/b1a", 64), name + "/b1b", 96, square(3));
    b = &normed_(*b, name + "/b1c", 96, square(3, 2, Padding::valid));
    return concat(graph_, {&a, b, &halved(x)});
  }

  Activation& at_17(Name name, Activation& x, std::size_t inner) {
    Activation& a = one(x, name + "/b0", 192);
    Activation* b = &normed_(one(x, name + "/b1a", inner), name + "/b1b", inner, oblong(1, 7));
    b = &normed_(*b, name + "/b1c", 192, oblong(7, 1));
    Activation* c = &normed_(one(x, name + "/b2a", inner), name + "/b2b", inner, oblong(7, 1));
    c = &normed_(*c, name + "/b2c", inner, oblong(1, 7));
    c = &normed_(*c, name + "/b2d", inner, oblong(7, 1));
    c = &normed_(*c, name + "/b2e", 192, oblong(1, 7));
    Activation& d = one(averaged(x), name + "/b3", 192);
    return concat(graph_, {&a, b, c, &d});
  }

  /// The auxiliary head's logits.
  Activation& head(Activation& x) {
    // 5 × 5 by 3 on the original's 17 × 17 leaves 5 × 5, which the next convolution sees whole.
    Activation* y = &average_pool(graph_, x, square(5, 3, Padding::valid));
    y = &one(*y, "aux/proj", 128);
    const Window whole{.kernel = y->shape()[2], .padding = Padding::valid, .width = y->shape()[3]};
    NormedConvolutions normed = normed_;
    normed.stddev = 0.01F;
    y = &normed(*y, "aux/conv", 768, whole);
    return dense(graph_, *y,
                 {.name = "aux/logits",
                  .outputs = options_.images.classes,
                  .stddev = 0.001F,
                  .logits = true});
  }

  Activation& to_8(Name name, Activation& x) {
    Activation& a =
        normed_(one(x, name + "/b0a", 192), name + "/b0b", 320, square(3, 2, Padding::valid));
    Activation* b = &normed_(one(x, name + "/b1a", 192), name + "/b1b", 192, oblong(1, 7));
    b = &normed_(*b, name + "/b1c", 192, oblong(7, 1));
    b = &normed_(*b, name + "/b1d", 192, square(3, 2, Padding::valid));
    return concat(graph_, {&a, b, &halved(x)});
  }

  /// Side by side over one input.
  Activation& crossed(Name name, Activation& x) {
    Activation& wide = normed_(x, name + "_1x3", 384, oblong(1, 3));
    Activation& high = normed_(x, name + "_3x1", 384, oblong(3, 1));
    return concat(graph_, {&wide, &high});
  }

  Activation& at_8(Name name, Activation& x) {
    Activation& a = one(x, name + "/b0", 320);
    Activation& b = crossed(name + "/b1b", one(x, name + "/b1a", 384));
    Activation& c =
        crossed(name + "/b2c", normed_(one(x, name + "/b2a", 448), name + "/b2b", 384, square(3)));
    Activation& d = one(averaged(x), name + "/b3", 192);
    return concat(graph_, {&a, &b, &c, &d});
  }

  Graph& graph_;
  const ZooOptions& options_;
  NormedConvolutions normed_;
};

NetOutputs build(Graph& graph, const ZooOptions& options) {
  return InceptionV3(graph, options).build();
}

}  // namespace

extern const ZooNet kInceptionV3;
const ZooNet kInceptionV3{.name = "inception_v3",
                          .build = build,
                          .usual = {299, 299, 3, 1000},
                          .smallest = 107,
                          .label_smoothing = 0.1F};

}  // namespace sterna::nets
