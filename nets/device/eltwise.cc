#include "nets/backend/eltwise.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

using kernels::ElementLaunch;
using kernels::ElementPass;

class DeviceEltwise final : public Eltwise {
 public:
  DeviceEltwise(DeviceContext& context, const EltwiseSpec& spec)
      : context_(context),
        relu_(spec.function == EltwiseSpec::Function::relu),
        count_(spec.count) {}
  void forward(Tensor& xy) override {
    context_.run(ElementLaunch{.pass = relu_ ? ElementPass::relu : ElementPass::sigmoid,
                               .a = numbers(xy),
                               .out = numbers(xy),
                               .count = count_});
  }
  void backward(const Tensor& y, Tensor& dy) override {
    context_.run(
        ElementLaunch{.pass = relu_ ? ElementPass::relu_gradient : ElementPass::sigmoid_gradient,
                      .a = numbers(y),
                      .b = numbers(dy),
                      .out = numbers(dy),
                      .count = count_});
  }

 private:
  DeviceContext& context_;
  bool relu_;
  std::size_t count_;
};

}  // namespace

std::unique_ptr<Eltwise> device_eltwise(DeviceContext& context, const EltwiseSpec& spec) {
  return std::make_unique<DeviceEltwise>(context, spec);
}

}  // namespace sterna::nets
