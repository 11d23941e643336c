// A device's pools and normalizations.
#include "nets/backend/average_pool.h"
#include "nets/backend/batch_norm.h"
#include "nets/backend/lrn.h"
#include "nets/backend/max_pool.h"
#include "tests/nets/device/operation_fixture.h"

namespace sterna::nets {
namespace {

/// A pool's forward and backward pass over `x` and `dy`.
template <class Operation>
Outputs pooled(Side& side, Operation& operation, const Shape& in, const Shape& out, const Values& x,
               const Values& dy) {
  Tensor& y = side.activation(out, kImages);
  Tensor& dx = side.activation(in, kImages);
  operation.forward(side.activation(in, kImages, x), y);
  operation.backward(side.activation(out, kImages, dy), dx);
  return {side.read(y), side.read(dx)};
}

TEST_F(DeviceOperations, PoolAsInDoublePrecision) {
  const Shape in{2, 5, 8, 7};
  for (const Window& window : {Window{.kernel = 3, .stride = 2},
                               {.kernel = 3, .stride = 2, .padding = Padding::valid},
                               {.kernel = 3, .stride = 2, .padding = Padding::given, .pad = 1},
                               {.kernel = 2, .stride = 2},
                               {.kernel = 3},
                               {.kernel = 2, .stride = 3},
                               {.kernel = 8, .padding = Padding::valid, .width = 7}}) {
    const Shape out{in[0], in[1], window.down().out(in[2]), window.across().out(in[3])};
    Drawn drawn;
    const Values x = drawn.bf16s(in), dy = drawn(out);
    const std::string name = fmt::format("pool of {} x {}, stride {}", window.down().kernel,
                                         window.across().kernel, window.stride);
    expect_the_reference({.name = "max " + name,
                          .expected = {{"y", reference::max_pool(x, in, window)},
                                       {"dx", reference::max_pool_backward(x, in, dy, window)}},
                          .run = [&](Side& side) {
                            const auto operation = side.backend->max_pool(
                                {.input = in, .window = window, .element = side.element});
                            return pooled(side, *operation, in, out, x, dy);
                          }});
    for (const bool counts : {false, true}) {
      expect_the_reference(
          {.name = "average " + name + (counts ? ", padding counted" : ""),
           .expected = {{"y", reference::average_pool(x, in, window, counts)},
                        {"dx", reference::average_pool_backward(dy, in, window, counts)}},
           .run = [&](Side& side) {
             const auto operation = side.backend->average_pool({.input = in,
                                                                .window = window,
                                                                .counts_padding = counts,
                                                                .element = side.element});
             return pooled(side, *operation, in, out, x, dy);
           }});
    }
  }
}

TEST_F(DeviceOperations, NormalizeLocallyAsInDoublePrecision) {
  for (const LrnSpec& spec :
       {LrnSpec{.input = {2, 64, 3, 3}, .radius = 4, .bias = 1, .alpha = 0.3F, .beta = 0.75F},
        // cifarnet's, and alexnet's
        {.input = {2, 64, 3, 3}, .radius = 4, .bias = 1, .alpha = 0.001F / 9, .beta = 0.75F},
        {.input = {2, 12, 5, 5}, .radius = 2, .bias = 2, .alpha = 1e-4F, .beta = 0.75F},
        {.input = {2, 3, 4, 2}, .radius = 2, .bias = 2, .alpha = 0.5F, .beta = 0.75F},
        {.input = {1, 10, 2, 2}, .radius = 2, .bias = 1, .alpha = 0.3F, .beta = 0.5F},
        {.input = {1, 1, 5, 5}, .radius = 3, .bias = 1, .alpha = 0.3F, .beta = 1}}) {
    Drawn drawn;
    const Values x = drawn(spec.input), dy = drawn(spec.input);
    const reference::Lrn options{spec.radius, spec.bias, spec.alpha, spec.beta};
    expect_the_reference({.name = fmt::format("LRN of {} channels", spec.input[1]),
                          .expected = {{"y", reference::lrn(x, spec.input, options)},
                                       {"dx", reference::lrn_backward(x, spec.input, options, dy)}},
                          .run = [&](Side& side) -> Outputs {
                            LrnSpec own = spec;
                            own.element = side.element;
                            const auto operation = side.backend->lrn(own);
                            const Tensor& to_normalize = side.activation(spec.input, kImages, x);
                            Tensor& y = side.activation(spec.input, kImages);
                            Tensor& dx = side.activation(spec.input, kImages);
                            operation->forward(to_normalize, y);
                            operation->backward(to_normalize,
                                                side.activation(spec.input, kImages, dy), dx);
                            return {side.read(y), side.read(dx)};
                          }});
  }
}

/// Of images that are far from 0.
class BatchNormCase {
 public:
  explicit BatchNormCase(const BatchNormSpec& spec)
      : spec_(spec),
        channels_{spec.input[1]},
        x_(drawn_.bf16s(spec.input, 3)),
        scale_(spec.scale ? drawn_(channels_, 2) : Values(spec.input[1], 1)),
        shift_(drawn_(channels_)),
        dy_(drawn_(spec.input)),
        moved_{drawn_(channels_, 3), drawn_(channels_, 2)} {}

  std::vector<Expected> expected() const {
    const reference::Moments own = reference::moments(x_, spec_.input);
    const Values y = normalized(own);
    const reference::Gradients d =
        reference::normalize_backward(x_, spec_.input, spec_.epsilon, scale_,
                                      spec_.relu ? reference::relu_backward(y, dy_) : dy_);
    std::vector<Expected> all{
        {"y", passed(y)}, {"mean", own.mean}, {"variance", own.variance},
        {"dx", d.x},      {"dshift", d.b},    {"y by given moments", passed(normalized(moved_))}};
    if (spec_.scale) all.push_back({"dscale", d.w});
    return all;
  }

  /// `over`: dx lies where dy lies.
  Outputs run(Side& side, bool over) const {
    BatchNormSpec own = spec_;
    own.element = side.element;
    const auto operation = side.backend->batch_norm(own);
    const Tensor& x = side.activation(spec_.input, kImages, x_);
    const Tensor* const scale = spec_.scale ? &side.parameter(channels_, scale_) : nullptr;
    const Tensor& shift = side.parameter(channels_, shift_);
    Tensor& mean = side.parameter(channels_);
    Tensor& variance = side.parameter(channels_);
    Tensor& y = side.activation(spec_.input, kImages);
    Tensor& dy = side.activation(spec_.input, kImages, dy_);
    Tensor& dx = over ? dy : side.activation(spec_.input, kImages);
    Tensor* const dscale = spec_.scale ? &side.parameter(channels_) : nullptr;
    Tensor& dshift = side.parameter(channels_);
    operation->forward(x, scale, shift, mean, variance, y);
    operation->backward(x, dy, scale, shift, mean, variance, dx, dscale, dshift);
    Outputs outputs{side.read(y), side.read(mean), side.read(variance), side.read(dx),
                    side.read(dshift)};
    operation->infer(x, scale, shift, side.parameter(channels_, moved_.mean),
                     side.parameter(channels_, moved_.variance), y);
    outputs.push_back(side.read(y));
    if (dscale != nullptr) outputs.push_back(side.read(*dscale));
    return outputs;
  }

 private:
  Values normalized(const reference::Moments& by) const {
    return reference::normalize(x_, spec_.input, by, spec_.epsilon, scale_, shift_);
  }
  Values passed(const Values& y) const { return spec_.relu ? reference::relu(y) : y; }

  Drawn drawn_;
  BatchNormSpec spec_;
  Shape channels_;
  Values x_, scale_, shift_, dy_;
  reference::Moments moved_;
};

TEST_F(DeviceOperations, NormalizeBatchesAsInDoublePrecision) {
  for (const bool scale : {false, true}) {
    for (const bool relu : {false, true}) {
      // Of less than a block of pixels, and of several.
      for (const Shape& in : {Shape{2, 20, 3, 4}, {3, 17, 16, 12}}) {
        const BatchNormCase one({.input = in, .scale = scale, .relu = relu});
        const bool over = relu == scale;
        expect_the_reference({.name = fmt::format("batch norm of {}{}{}", fmt::join(in, " x "),
                                                  scale ? ", scaled" : "", relu ? ", ReLU" : ""),
                              .expected = one.expected(),
                              .run = [&](Side& side) { return one.run(side, over); }});
      }
    }
  }
}

}  // namespace
}  // namespace sterna::nets
