#include "nets/backend/average_pool.h"

#include <optional>

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnAveragePool final : public AveragePool {
 public:
  OneDnnAveragePool(OneDnnBackend::Context& context, const AveragePoolSpec& spec) {
    const TeamSize team(context.threads);
    const WindowDims window(spec.window, spec.input);
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc, spec.element);
    const Descriptor y =
        describe({x.dims()[0], x.dims()[1], window.out[0], window.out[1]}, Tag::nhwc, spec.element);
    const auto algorithm = spec.counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                               : dnnl::algorithm::pooling_avg_exclude_padding;

    using Forward = dnnl::pooling_forward;
    const Forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, algorithm, x, y, window.strides, window.kernel,
         window.before, window.after},
        attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DST, y);
    if (!spec.backward) return;

    using Backward = dnnl::pooling_backward;
    const Backward::primitive_desc backward(
        {algorithm, x, y, window.strides, window.kernel, window.before, window.after}, attributes(),
        context.engine, forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_DIFF_DST, y).add(DNNL_ARG_DIFF_SRC, x);
  }
  void forward(const Tensor& x, Tensor& y) override {
    forward_->bind(DNNL_ARG_SRC, x).bind(DNNL_ARG_DST, y).run();
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    backward_->bind(DNNL_ARG_DIFF_DST, dy).bind(DNNL_ARG_DIFF_SRC, dx).run();
  }

 private:
  std::optional<Primitive> forward_, backward_;
};

}  // namespace

std::unique_ptr<AveragePool> OneDnnBackend::average_pool(const AveragePoolSpec& spec) {
  return std::make_unique<OneDnnAveragePool>(*context_, spec);
}

}  // namespace sterna::nets
