#include "nets/backend/rectified_sum.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

using kernels::ElementLaunch;
using kernels::ElementPass;

class DeviceRectifiedSum final : public RectifiedSum {
 public:
  explicit DeviceRectifiedSum(DeviceContext& context) : context_(context) {}
  void forward(const Tensor& a, const Tensor& b, Tensor& y) override {
    run(ElementPass::add_and_rectify, a, b, y);
  }
  void backward(const Tensor& y, Tensor& dy) override {
    run(ElementPass::relu_gradient, y, dy, dy);
  }
  void backward(const Tensor& y, const Tensor& part, Tensor& dy) override {
    run(ElementPass::add_gated, y, part, dy);
  }

 private:
  void run(ElementPass pass, const Tensor& a, const Tensor& b, Tensor& out) {
    context_.run(ElementLaunch{
        .pass = pass, .a = numbers(a), .b = numbers(b), .out = numbers(out), .count = out.size()});
  }

  DeviceContext& context_;
};

}  // namespace

std::unique_ptr<RectifiedSum> device_rectified_sum(DeviceContext& context,
                                                   const RectifiedSumSpec& /*spec*/) {
  return std::make_unique<DeviceRectifiedSum>(context);
}

}  // namespace sterna::nets
