#include "nets/backend/max_pool.h"

#include <optional>

#include "nets/cpu/halving_pool.h"
#include "nets/cpu/own_max_pool.h"
#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnMaxPool final : public MaxPool {
 public:
  OneDnnMaxPool(OneDnnBackend::Context& context, const MaxPoolSpec& spec) {
    const TeamSize team(context.threads);
    const WindowDims window(spec.window, spec.input);
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc, spec.element);
    const Descriptor y =
        describe({x.dims()[0], x.dims()[1], window.out[0], window.out[1]}, Tag::nhwc, spec.element);
    const auto algorithm = dnnl::algorithm::pooling_max;

    using Forward = dnnl::pooling_forward;
    const Forward::primitive_desc forward(
        {spec.backward ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
         algorithm, x, y, window.strides, window.kernel, window.before, window.after},
        attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DST, y);
    if (!spec.backward) return;
    const dnnl::memory workspace(forward.workspace_desc(), context.engine);
    forward_->add(DNNL_ARG_WORKSPACE, workspace);

    using Backward = dnnl::pooling_backward;
    const Backward::primitive_desc backward(
        {algorithm, x, y, window.strides, window.kernel, window.before, window.after}, attributes(),
        context.engine, forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_DIFF_SRC, x)
        .add(DNNL_ARG_WORKSPACE, workspace);
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

/// Pooling that tiles the image, without oneDNN.
class HalvingMaxPool final : public MaxPool {
 public:
  explicit HalvingMaxPool(const Shape& in)
      : pool_{.rows = in[0] * in[2] / 2, .columns = in[3] / 2, .channels = in[1]},
        winner_(element_count(in) / 4) {}
  static bool fits(const MaxPoolSpec& spec) {
    const auto halves = [](const Slide& slide, std::size_t in) {
      return slide.kernel == 2 && slide.stride == 2 && in % 2 == 0 && slide.before(in) == 0;
    };
    return halves(spec.window.down(), spec.input[2]) && halves(spec.window.across(), spec.input[3]);
  }
  void forward(const Tensor& x, Tensor& y) override {
    halving_pool_forward(pool_, isa_, x, y, winner_.as<std::uint8_t>().data());
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    halving_pool_backward(pool_, isa_, dy, winner_.as<std::uint8_t>().data(), dx);
  }

 private:
  HalvingPool pool_;
  kernels::Isa isa_ = usable_isa();
  Buffer winner_;
};

}  // namespace

std::unique_ptr<MaxPool> OneDnnBackend::max_pool(const MaxPoolSpec& spec) {
  // Ours run on one thread, and are as fast as oneDNN on six and on four.
  if (HalvingMaxPool::fits(spec) && context_->threads <= 6)
    return std::make_unique<HalvingMaxPool>(spec.input);
  if (context_->threads <= 4) {
    if (auto own = make_own_max_pool(spec, usable_isa())) return own;
  }
  return std::make_unique<OneDnnMaxPool>(*context_, spec);
}

}  // namespace sterna::nets
