#include <cassert>
#include <optional>

#include "nets/device/operand.h"
#include "nets/device/operations.h"
#include "nets/device/product.h"

namespace sterna::nets {
namespace {

using kernels::ProductLaunch;

class DeviceInnerProduct final : public InnerProduct {
 public:
  DeviceInnerProduct(DeviceContext& context, const InnerProductSpec& spec)
      : context_(context),
        spec_(spec),
        forward_(context, forward_like(spec)),
        w_(Operand::of_weights(context, spec.out * spec.in)) {
    assert((spec.element == Element::bf16) == context.multiplies_bf16s());
    if (!spec.backward) return;
    parameters_.emplace(context, parameters_like(spec));
    if (spec.input_gradient) data_.emplace(context, data_like(spec));
    if (spec.bias) context.reserve_sums(spec.batch, spec.out);
  }

  /// At once, not in the pass that wants them: that may be repeated where they did not change.
  void weights_changed() override { w_.changed(); }
  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    w_.keep(numbers(w));
    ProductLaunch launch = forward_like(spec_);
    const bool biased = launch.bias != nullptr;
    launch.a.data = numbers(x);
    launch.b.data = w_.numbers();
    if (biased) launch.bias = b->data();
    launch.out = numbers(y);
    forward_.run(launch);
    if (biased || b == nullptr) return;
    context_.run(kernels::BiasLaunch{
        .bias = b->data(), .y = numbers(y), .pixels = spec_.batch, .channels = spec_.out});
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    ProductLaunch launch = parameters_like(spec_);
    launch.a.data = numbers(dy);
    launch.b.data = numbers(x);
    launch.out = dw.data();
    parameters_->run(launch);
    if (db == nullptr) return;
    context_.run(kernels::ChannelSumLaunch{
        .sums = context_.sums_of(spec_.batch, spec_.out), .from = numbers(dy), .to = db->data()});
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    w_.keep(numbers(w));
    ProductLaunch launch = data_like(spec_);
    launch.a.data = numbers(dy);
    launch.b.data = w_.numbers();
    launch.out = numbers(dx);
    data_->run(launch);
  }

 private:
  static ProductLaunch forward_like(const InnerProductSpec& spec) {
    static constexpr float kSome = 0;  // there is a bias
    return {.a = {nullptr, spec.in, 1},
            .b = {nullptr, 1, spec.in},
            .bias = spec.bias && spec.element == Element::fp32 ? &kSome : nullptr,
            .out = {nullptr, spec.element == Element::bf16},
            .rows = spec.batch,
            .columns = spec.out,
            .depth = spec.in};
  }
  static ProductLaunch parameters_like(const InnerProductSpec& spec) {
    return {.a = {nullptr, 1, spec.out},
            .b = {nullptr, spec.in, 1},
            .rows = spec.out,
            .columns = spec.in,
            .depth = spec.batch};
  }
  static ProductLaunch data_like(const InnerProductSpec& spec) {
    return {.a = {nullptr, spec.out, 1},
            .b = {nullptr, spec.in, 1},
            .out = {nullptr, spec.element == Element::bf16},
            .rows = spec.batch,
            .columns = spec.in,
            .depth = spec.out};
  }

  DeviceContext& context_;
  InnerProductSpec spec_;
  Product forward_;
  Operand w_;
  std::optional<Product> parameters_;  // backward
  std::optional<Product> data_;        // likewise, where it has one
};

}  // namespace

std::unique_ptr<InnerProduct> device_inner_product(DeviceContext& context,
                                                   const InnerProductSpec& spec) {
  return std::make_unique<DeviceInnerProduct>(context, spec);
}

}  // namespace sterna::nets
