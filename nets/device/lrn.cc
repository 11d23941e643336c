#include "nets/backend/lrn.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

using kernels::LocalNormGradientLaunch;
using kernels::LocalNormLaunch;

class DeviceLrn final : public Lrn {
 public:
  DeviceLrn(DeviceContext& context, const LrnSpec& spec)
      : context_(context), spec_(spec), count_(element_count(spec.input)) {
    if (spec.backward) context.reserve<float>(count_);
  }
  void forward(const Tensor& x, Tensor& y) override {
    context_.run(LocalNormLaunch{.norm = norm_of(x), .y = numbers(y)});
  }
  void backward(const Tensor& x, const Tensor& dy, Tensor& dx) override {
    context_.run(LocalNormGradientLaunch{.norm = norm_of(x),
                                         .dy = numbers(dy),
                                         .parts = context_.scratch<float>(),
                                         .dx = numbers(dx)});
  }

 private:
  kernels::LocalNorm norm_of(const Tensor& x) const {
    return {.x = numbers(x),
            .count = count_,
            .channels = spec_.input[1],
            .radius = spec_.radius,
            .bias = spec_.bias,
            .alpha = spec_.alpha,
            .beta = spec_.beta};
  }

  DeviceContext& context_;
  LrnSpec spec_;
  std::size_t count_;
};

}  // namespace

std::unique_ptr<Lrn> device_lrn(DeviceContext& context, const LrnSpec& spec) {
  return std::make_unique<DeviceLrn>(context, spec);
}

}  // namespace sterna::nets
