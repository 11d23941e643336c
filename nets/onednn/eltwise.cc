#include "nets/backend/eltwise.h"

#include <optional>

#include "nets/cpu/own_relu.h"
#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnLogistic final : public Eltwise {
 public:
  OneDnnLogistic(OneDnnBackend::Context& context, const EltwiseSpec& spec) {
    const TeamSize team(context.threads);
    const Descriptor x = describe(dims_of({spec.count}), Tag::x, spec.element);
    const auto algorithm = dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    using Forward = dnnl::eltwise_forward;
    const Forward::primitive_desc forward({dnnl::prop_kind::forward_training, algorithm, x, 0.F},
                                          attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DST, x);
    if (!spec.backward) return;
    using Backward = dnnl::eltwise_backward;
    const Backward::primitive_desc backward({algorithm, x, x, 0.F}, attributes(), context.engine,
                                            forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_DST, x).add(DNNL_ARG_DIFF_DST, x).add(DNNL_ARG_DIFF_SRC, x);
  }
  void forward(Tensor& xy) override {
    forward_->bind(DNNL_ARG_SRC, xy).bind(DNNL_ARG_DST, xy).run();
  }
  void backward(const Tensor& y, Tensor& dy) override {
    backward_->bind(DNNL_ARG_DST, y).bind(DNNL_ARG_DIFF_DST, dy).bind(DNNL_ARG_DIFF_SRC, dy).run();
  }

 private:
  std::optional<Primitive> forward_, backward_;
};

}  // namespace

std::unique_ptr<Eltwise> OneDnnBackend::eltwise(const EltwiseSpec& spec) {
  if (auto own = make_own_relu(spec, usable_isa(), Team(context_->threads))) return own;
  return std::make_unique<OneDnnLogistic>(*context_, spec);
}

}  // namespace sterna::nets
