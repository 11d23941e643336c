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
        x_(Operand::of_input(context, spec.backward, spec.batch * spec.in)),
        w_(Operand::kept(context, spec.out * spec.in)) {
    if (!spec.backward) return;
    dy_ = Operand::shared(context, DeviceContext::Bf16s::first, spec.batch * spec.out);
    parameters_.emplace(context, parameters_like(spec));
    if (spec.input_gradient) data_.emplace(context, data_like(spec));
    if (spec.bias) context.reserve_sums(spec.batch, spec.out);
  }

  /// At once, not in the pass that wants them: that may be repeated where they did not change.
  void weights_changed() override { w_.changed(); }
  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    x_.take(x.data());
    w_.keep(w.data());
    ProductLaunch launch = forward_like(spec_);
    launch.a = x_.view(launch.a);
    launch.b = w_.view(launch.b);
    launch.bias = b != nullptr ? b->data() : nullptr;
    launch.out = y.data();
    forward_.run(launch);
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    x_.keep(x.data());
    dy_.take(dy.data());
    ProductLaunch launch = parameters_like(spec_);
    launch.a = dy_.view(launch.a);
    launch.b = x_.view(launch.b);
    launch.out = dw.data();
    parameters_->run(launch);
    if (db == nullptr) return;
    context_.run(kernels::ChannelSumLaunch{
        .sums = context_.sums_of(spec_.batch, spec_.out), .from = dy.data(), .to = db->data()});
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    dy_.keep(dy.data());
    w_.keep(w.data());
    ProductLaunch launch = data_like(spec_);
    launch.a = dy_.view(launch.a);
    launch.b = w_.view(launch.b);
    launch.out = dx.data();
    data_->run(launch);
  }

 private:
  static ProductLaunch forward_like(const InnerProductSpec& spec) {
    static constexpr float kSome = 0;  // there is a bias
    return {.a = {nullptr, spec.in, 1},
            .b = {nullptr, 1, spec.in},
            .bias = spec.bias ? &kSome : nullptr,
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
            .rows = spec.batch,
            .columns = spec.in,
            .depth = spec.out};
  }

  DeviceContext& context_;
  InnerProductSpec spec_;
  Product forward_;
  Operand x_, w_, dy_;
  std::optional<Product> parameters_;  // backward
  std::optional<Product> data_;        // likewise, where it has one
};

}  // namespace

std::unique_ptr<InnerProduct> device_inner_product(DeviceContext& context,
                                                   const InnerProductSpec& spec) {
  return std::make_unique<DeviceInnerProduct>(context, spec);
}

}  // namespace sterna::nets
