#include "nets/backend/max_pool.h"

#include "nets/device/operations.h"
#include "nets/device/windows.h"

namespace sterna::nets {
namespace {

using kernels::WindowLaunch;
using kernels::WindowPass;

class DeviceMaxPool final : public MaxPool {
 public:
  DeviceMaxPool(DeviceContext& context, const MaxPoolSpec& spec)
      : context_(context), windows_(windows_of(spec.input, spec.window)) {
    if (!spec.backward) return;
    winners_ = must(kernels::DeviceArray<std::uint32_t>::make(
        *context.device, std::size_t{windows_.images} * windows_.out_rows * windows_.out_columns *
                             windows_.channels));
  }
  void forward(const Tensor& x, Tensor& y) override {
    context_.run(WindowLaunch{.pass = WindowPass::maximum,
                              .windows = windows_,
                              .from = numbers(x),
                              .to = numbers(y),
                              .winners = winners_.data()});
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    context_.run(WindowLaunch{.pass = WindowPass::maximum_back,
                              .windows = windows_,
                              .from = numbers(dy),
                              .to = numbers(dx),
                              .winners = winners_.data()});
  }

 private:
  DeviceContext& context_;
  kernels::Windows windows_;
  kernels::DeviceArray<std::uint32_t> winners_;  // of the last forward pass
};

}  // namespace

std::unique_ptr<MaxPool> device_max_pool(DeviceContext& context, const MaxPoolSpec& spec) {
  return std::make_unique<DeviceMaxPool>(context, spec);
}

}  // namespace sterna::nets
