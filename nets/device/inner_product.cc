#include <vector>

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

using kernels::MatrixView;
using kernels::ProductLaunch;

/// Plain products, whose sums run in the order of the index that is summed over.
class DeviceInnerProduct final : public InnerProduct {
 public:
  DeviceInnerProduct(DeviceContext& context, const InnerProductSpec& spec)
      : context_(context),
        spec_(spec),
        one_(must(kernels::uploaded<float>(*context.device, *context.stream,
                                           std::vector<float>{1.0F}))) {}

  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    context_.run(ProductLaunch{.a = {x.data(), spec_.in, 1},
                               .b = {w.data(), 1, spec_.in},
                               .bias = b != nullptr ? b->data() : nullptr,
                               .out = y.data(),
                               .rows = spec_.batch,
                               .columns = spec_.out,
                               .depth = spec_.in});
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    context_.run(ProductLaunch{.a = {dy.data(), 1, spec_.out},
                               .b = {x.data(), spec_.in, 1},
                               .out = dw.data(),
                               .rows = spec_.out,
                               .columns = spec_.in,
                               .depth = spec_.batch});
    if (db == nullptr) return;
    context_.run(ProductLaunch{.a = {one_.data(), 0, 0},  // the sum of each column
                               .b = {dy.data(), spec_.out, 1},
                               .out = db->data(),
                               .rows = 1,
                               .columns = spec_.out,
                               .depth = spec_.batch});
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    context_.run(ProductLaunch{.a = {dy.data(), spec_.out, 1},
                               .b = {w.data(), spec_.in, 1},
                               .out = dx.data(),
                               .rows = spec_.batch,
                               .columns = spec_.in,
                               .depth = spec_.out});
  }

 private:
  DeviceContext& context_;
  InnerProductSpec spec_;
  kernels::DeviceArray<float> one_;
};

}  // namespace

std::unique_ptr<InnerProduct> device_inner_product(DeviceContext& context,
                                                   const InnerProductSpec& spec) {
  return std::make_unique<DeviceInnerProduct>(context, spec);
}

}  // namespace sterna::nets
