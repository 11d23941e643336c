#include "nets/backend/average_pool.h"

#include "nets/device/operations.h"
#include "nets/device/windows.h"

namespace sterna::nets {
namespace {

using kernels::WindowLaunch;
using kernels::WindowPass;

class DeviceAveragePool final : public AveragePool {
 public:
  DeviceAveragePool(DeviceContext& context, const AveragePoolSpec& spec)
      : context_(context),
        windows_(windows_of(spec.input, spec.window)),
        counts_padding_(spec.counts_padding) {}
  void forward(const Tensor& x, Tensor& y) override { run(WindowPass::mean, x, y); }
  void backward(const Tensor& dy, Tensor& dx) override { run(WindowPass::mean_back, dy, dx); }

 private:
  void run(WindowPass pass, const Tensor& from, Tensor& to) {
    context_.run(WindowLaunch{.pass = pass,
                              .windows = windows_,
                              .from = numbers(from),
                              .to = numbers(to),
                              .counts_padding = counts_padding_});
  }

  DeviceContext& context_;
  kernels::Windows windows_;
  bool counts_padding_;
};

}  // namespace

std::unique_ptr<AveragePool> device_average_pool(DeviceContext& context,
                                                 const AveragePoolSpec& spec) {
  return std::make_unique<DeviceAveragePool>(context, spec);
}

}  // namespace sterna::nets
