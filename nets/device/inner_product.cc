#include <optional>

#include "nets/device/operations.h"
#include "nets/device/product.h"

namespace sterna::nets {
namespace {

using kernels::ProductLaunch;

class DeviceInnerProduct final : public InnerProduct {
 public:
  DeviceInnerProduct(DeviceContext& context, const InnerProductSpec& spec)
      : context_(context), spec_(spec), forward_(context, forward_like(spec)) {
    if (!spec.backward) return;
    parameters_.emplace(context, parameters_like(spec));
    if (spec.input_gradient) data_.emplace(context, data_like(spec));
    if (spec.bias) context.reserve_sums(spec.batch, spec.out);
  }

  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    ProductLaunch launch = forward_like(spec_);
    launch.a.data = x.data();
    launch.b.data = w.data();
    launch.bias = b != nullptr ? b->data() : nullptr;
    launch.out = y.data();
    forward_.run(launch);
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    ProductLaunch launch = parameters_like(spec_);
    launch.a.data = dy.data();
    launch.b.data = x.data();
    launch.out = dw.data();
    parameters_->run(launch);
    if (db == nullptr) return;
    context_.run(kernels::ChannelSumLaunch{
        .sums = context_.sums_of(spec_.batch, spec_.out), .from = dy.data(), .to = db->data()});
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    ProductLaunch launch = data_like(spec_);
    launch.a.data = dy.data();
    launch.b.data = w.data();
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
  std::optional<Product> parameters_;  // backward
  std::optional<Product> data_;        // likewise, where it has one
};

}  // namespace

std::unique_ptr<InnerProduct> device_inner_product(DeviceContext& context,
                                                   const InnerProductSpec& spec) {
  return std::make_unique<DeviceInnerProduct>(context, spec);
}

}  // namespace sterna::nets
