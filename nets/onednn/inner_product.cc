// Inner product. Weights stay row-major: at LeNet's fc3 and batch 64 the forward pass costs 1.3 ms
// instead of 1.0, the gradients nothing, and its 4.9 MB are never copied, neither on their way in
// nor the gradient's on its way out. Where activations are bf16, so is a copy of the weights, which
// both passes read.
#include "nets/backend/inner_product.h"

#include <optional>
#include <utility>

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnInnerProduct final : public InnerProduct {
 public:
  OneDnnInnerProduct(OneDnnBackend::Context& context, const InnerProductSpec& spec) {
    const TeamSize team(context.threads);
    const Descriptor x = describe(dims_of({spec.batch, spec.in}), Tag::nc, spec.element);
    const Dims weights = dims_of({spec.out, spec.in});
    const Descriptor dw = describe(weights, Tag::oi);
    const Descriptor w = describe(weights, Tag::oi, spec.element);
    // An empty description says that there is no bias.
    const Descriptor b = spec.bias ? describe(dims_of({spec.out}), Tag::x) : Descriptor();
    const Descriptor y = describe(dims_of({spec.batch, spec.out}), Tag::nc, spec.element);

    using Forward = dnnl::inner_product_forward;
    const Forward::primitive_desc forward({dnnl::prop_kind::forward_training, x, w, b, y},
                                          attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_WEIGHTS, w).add(DNNL_ARG_DST, y);
    if (spec.bias) forward_->add(DNNL_ARG_BIAS, b);
    if (spec.element == Element::bf16) {
      rounded_ = dnnl::memory(w, context.engine);
      round_.emplace(context, dw, w);
    }
    if (!spec.backward) return;

    using Weights = dnnl::inner_product_backward_weights;
    const Weights::primitive_desc by_weights({x, dw, b, y}, attributes(), context.engine, forward);
    by_weights_.emplace(context, by_weights, Weights(by_weights));
    by_weights_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DIFF_DST, y).add(DNNL_ARG_DIFF_WEIGHTS, dw);
    if (spec.bias) by_weights_->add(DNNL_ARG_DIFF_BIAS, b);
    if (!spec.input_gradient) return;
    using Data = dnnl::inner_product_backward_data;
    const Data::primitive_desc by_data({x, w, y}, attributes(), context.engine, forward);
    by_data_.emplace(context, by_data, Data(by_data));
    by_data_->add(DNNL_ARG_DIFF_DST, y).add(DNNL_ARG_WEIGHTS, w).add(DNNL_ARG_DIFF_SRC, x);
  }

  void weights_changed() override { stale_ = true; }

  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    if (b != nullptr) forward_->bind(DNNL_ARG_BIAS, *b);
    forward_->bind(DNNL_ARG_SRC, x)
        .bind_memory(DNNL_ARG_WEIGHTS, weights(w))
        .bind(DNNL_ARG_DST, y)
        .run();
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    if (db != nullptr) by_weights_->bind(DNNL_ARG_DIFF_BIAS, *db);
    by_weights_->bind(DNNL_ARG_SRC, x)
        .bind(DNNL_ARG_DIFF_DST, dy)
        .bind(DNNL_ARG_DIFF_WEIGHTS, dw)
        .run();
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    by_data_->bind(DNNL_ARG_DIFF_DST, dy)
        .bind_memory(DNNL_ARG_WEIGHTS, weights(w))
        .bind(DNNL_ARG_DIFF_SRC, dx)
        .run();
  }

 private:
  /// As the primitives read them.
  const void* weights(const Tensor& w) {
    if (!round_) return w.data();
    if (std::exchange(stale_, false)) round_->run(w.data(), rounded_.get_data_handle());
    return rounded_.get_data_handle();
  }

  bool stale_ = true;
  dnnl::memory rounded_;  // to bf16
  std::optional<Reorder> round_;
  std::optional<Primitive> forward_, by_weights_, by_data_;
};

}  // namespace

std::unique_ptr<InnerProduct> OneDnnBackend::inner_product(const InnerProductSpec& spec) {
  return std::make_unique<OneDnnInnerProduct>(*context_, spec);
}

}  // namespace sterna::nets
