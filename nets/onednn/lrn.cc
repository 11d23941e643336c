#include "nets/backend/lrn.h"

#include <optional>

#include "nets/cpu/own_lrn.h"
#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnLrn final : public Lrn {
 public:
  OneDnnLrn(OneDnnBackend::Context& context, const LrnSpec& spec) {
    const TeamSize team(context.threads);
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc, spec.element);
    const auto size = static_cast<std::int64_t>(2 * spec.radius + 1);
    const float alpha = spec.alpha * static_cast<float>(size);  // the library divides by it
    const auto algorithm = dnnl::algorithm::lrn_across_channels;
    using Forward = dnnl::lrn_forward;
    const Forward::primitive_desc forward(
        {spec.backward ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
         algorithm, x, size, alpha, spec.beta, spec.bias},
        attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DST, x);
    if (!spec.backward) return;
    using Backward = dnnl::lrn_backward;
    const Backward::primitive_desc backward({algorithm, x, x, size, alpha, spec.beta, spec.bias},
                                            attributes(), context.engine, forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DIFF_DST, x).add(DNNL_ARG_DIFF_SRC, x);
    if (forward.workspace_desc().get_size() > 0) {
      const dnnl::memory workspace(forward.workspace_desc(), context.engine);
      forward_->add(DNNL_ARG_WORKSPACE, workspace);
      backward_->add(DNNL_ARG_WORKSPACE, workspace);
    }
  }
  void forward(const Tensor& x, Tensor& y) override {
    forward_->bind(DNNL_ARG_SRC, x).bind(DNNL_ARG_DST, y).run();
  }
  void backward(const Tensor& x, const Tensor& dy, Tensor& dx) override {
    backward_->bind(DNNL_ARG_SRC, x).bind(DNNL_ARG_DIFF_DST, dy).bind(DNNL_ARG_DIFF_SRC, dx).run();
  }

 private:
  std::optional<Primitive> forward_, backward_;
};

}  // namespace

std::unique_ptr<Lrn> OneDnnBackend::lrn(const LrnSpec& spec) {
  if (auto own = make_own_lrn(spec, usable_isa(), Team(context_->threads))) return own;
  return std::make_unique<OneDnnLrn>(*context_, spec);
}

}  // namespace sterna::nets
