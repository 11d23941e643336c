#include "nets/backend/batch_norm.h"

#include <cmath>
#include <limits>
#include <optional>

#include "nets/cpu/avx512_batch_norm.h"
#include "nets/cpu/own_relu.h"
#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

using Flags = dnnl::normalization_flags;

/// Of fp32. The library's rectifier makes 0 of what is no number: evaluation has ours, and training
/// looks at the channels' moments, where such a thing shows.
class OneDnnBatchNorm final : public BatchNorm {
 public:
  OneDnnBatchNorm(OneDnnBackend::Context& context, const BatchNormSpec& spec) {
    const TeamSize team(context.threads);
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc, spec.element);
    const Descriptor channel = describe(dims_of({spec.input[1]}), Tag::x);
    Flags flags = Flags::use_shift;
    if (spec.scale) flags |= Flags::use_scale;

    using Forward = dnnl::batch_normalization_forward;
    const Forward::primitive_desc inference(
        {dnnl::prop_kind::forward_inference, x, spec.epsilon, flags | Flags::use_global_stats},
        attributes(), context.engine);
    inference_.emplace(context, inference, Forward(inference));
    inference_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_DST, x)
        .add(DNNL_ARG_SHIFT, channel)
        .add(DNNL_ARG_MEAN, channel)
        .add(DNNL_ARG_VARIANCE, channel);
    if (spec.scale) inference_->add(DNNL_ARG_SCALE, channel);
    if (spec.relu) {
      rectify_ = make_own_relu({.count = element_count(spec.input), .backward = false},
                               usable_isa(), Team(context.threads));
      flags |= Flags::fuse_norm_relu;
    }
    if (!spec.backward) return;

    const Forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, x, spec.epsilon, flags}, attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_DST, x)
        .add(DNNL_ARG_SHIFT, channel)
        .add(DNNL_ARG_MEAN, channel)
        .add(DNNL_ARG_VARIANCE, channel);

    using Backward = dnnl::batch_normalization_backward;
    const Backward::primitive_desc backward({dnnl::prop_kind::backward, x, x, spec.epsilon, flags},
                                            attributes(), context.engine, forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_MEAN, channel)
        .add(DNNL_ARG_VARIANCE, channel)
        .add(DNNL_ARG_DIFF_DST, x)
        .add(DNNL_ARG_SHIFT, channel)
        .add(DNNL_ARG_DIFF_SRC, x)
        .add(DNNL_ARG_DIFF_SHIFT, channel);
    if (spec.scale) {
      forward_->add(DNNL_ARG_SCALE, channel);
      backward_->add(DNNL_ARG_SCALE, channel).add(DNNL_ARG_DIFF_SCALE, channel);
    }
    if (forward.workspace_desc().get_size() > 0) {
      const dnnl::memory workspace(forward.workspace_desc(), context.engine);
      forward_->add(DNNL_ARG_WORKSPACE, workspace);
      backward_->add(DNNL_ARG_WORKSPACE, workspace);
    }
  }

  void forward(const Tensor& x, const Tensor* scale, const Tensor& shift, Tensor& mean,
               Tensor& variance, Tensor& y) override {
    if (scale != nullptr) forward_->bind(DNNL_ARG_SCALE, *scale);
    forward_->bind(DNNL_ARG_SRC, x)
        .bind(DNNL_ARG_SHIFT, shift)
        .bind(DNNL_ARG_MEAN, mean)
        .bind(DNNL_ARG_VARIANCE, variance)
        .bind(DNNL_ARG_DST, y)
        .run();
    if (rectify_ != nullptr) show_broken(scale, shift, mean, variance, y);
  }
  void infer(const Tensor& x, const Tensor* scale, const Tensor& shift, const Tensor& mean,
             const Tensor& variance, Tensor& y) override {
    if (scale != nullptr) inference_->bind(DNNL_ARG_SCALE, *scale);
    inference_->bind(DNNL_ARG_SRC, x)
        .bind(DNNL_ARG_SHIFT, shift)
        .bind(DNNL_ARG_MEAN, mean)
        .bind(DNNL_ARG_VARIANCE, variance)
        .bind(DNNL_ARG_DST, y)
        .run();
    if (rectify_ != nullptr) rectify_->forward(y);
  }
  void backward(const Tensor& x, const Tensor& dy, const Tensor* scale, const Tensor& shift,
                const Tensor& mean, const Tensor& variance, Tensor& dx, Tensor* dscale,
                Tensor& dshift) override {
    if (scale != nullptr) {
      backward_->bind(DNNL_ARG_SCALE, *scale).bind(DNNL_ARG_DIFF_SCALE, *dscale);
    }
    backward_->bind(DNNL_ARG_SRC, x)
        .bind(DNNL_ARG_DIFF_DST, dy)
        .bind(DNNL_ARG_SHIFT, shift)
        .bind(DNNL_ARG_MEAN, mean)
        .bind(DNNL_ARG_VARIANCE, variance)
        .bind(DNNL_ARG_DIFF_SRC, dx)
        .bind(DNNL_ARG_DIFF_SHIFT, dshift)
        .run();
  }

 private:
  /// Makes NaNs of the channels that have none to show.
  static void show_broken(const Tensor* scale, const Tensor& shift, const Tensor& mean,
                          const Tensor& variance, Tensor& y) {
    const std::size_t channels = shift.size();
    for (std::size_t k = 0; k < channels; ++k) {
      float all = mean.data()[k] + variance.data()[k] + shift.data()[k];
      if (scale != nullptr) all += scale->data()[k];
      if (std::isfinite(all)) continue;
      for (std::size_t i = k; i < y.size(); i += channels)
        y.data()[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }

  std::unique_ptr<Eltwise> rectify_;  // after inference, where y is rectified
  std::optional<Primitive> forward_, inference_, backward_;
};

}  // namespace

std::unique_ptr<BatchNorm> OneDnnBackend::batch_norm(const BatchNormSpec& spec) {
  if (usable_isa() == kernels::Isa::avx512)
    return make_avx512_batch_norm(spec, Team(context_->threads));
  return std::make_unique<OneDnnBatchNorm>(*context_, spec);
}

}  // namespace sterna::nets
