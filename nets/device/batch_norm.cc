#include "nets/backend/batch_norm.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

using kernels::ChannelNorm;
using kernels::ChannelNormGradientLaunch;
using kernels::ChannelNormLaunch;
using kernels::MomentsLaunch;

class DeviceBatchNorm final : public BatchNorm {
 public:
  DeviceBatchNorm(DeviceContext& context, const BatchNormSpec& spec)
      : context_(context),
        spec_(spec),
        channels_(spec.input[1]),
        pixels_(element_count(spec.input) / channels_) {
    if (spec.backward) context.reserve_sums(pixels_, channels_);
  }
  void forward(const Tensor& x, const Tensor* scale, const Tensor& shift, Tensor& mean,
               Tensor& variance, Tensor& y) override {
    context_.run(MomentsLaunch{
        .sums = sums(), .x = numbers(x), .mean = mean.data(), .variance = variance.data()});
    infer(x, scale, shift, mean, variance, y);
  }
  void infer(const Tensor& x, const Tensor* scale, const Tensor& shift, const Tensor& mean,
             const Tensor& variance, Tensor& y) override {
    context_.run(ChannelNormLaunch{.norm = norm_of(x, scale, shift, mean, variance),
                                   .y = numbers(y),
                                   .pixels = pixels_,
                                   .channels = channels_});
  }
  void backward(const Tensor& x, const Tensor& dy, const Tensor* scale, const Tensor& shift,
                const Tensor& mean, const Tensor& variance, Tensor& dx, Tensor* dscale,
                Tensor& dshift) override {
    context_.run(ChannelNormGradientLaunch{.norm = norm_of(x, scale, shift, mean, variance),
                                           .sums = sums(),
                                           .dy = numbers(dy),
                                           .dx = numbers(dx),
                                           .dscale = dscale != nullptr ? dscale->data() : nullptr,
                                           .dshift = dshift.data()});
  }

 private:
  kernels::ChannelSums sums() const { return context_.sums_of(pixels_, channels_); }
  ChannelNorm norm_of(const Tensor& x, const Tensor* scale, const Tensor& shift, const Tensor& mean,
                      const Tensor& variance) const {
    return {.x = numbers(x),
            .scale = scale != nullptr ? scale->data() : nullptr,
            .shift = shift.data(),
            .mean = mean.data(),
            .variance = variance.data(),
            .epsilon = spec_.epsilon,
            .relu = spec_.relu};
  }

  DeviceContext& context_;
  BatchNormSpec spec_;
  std::size_t channels_;
  std::size_t pixels_;  // of all images
};

}  // namespace

std::unique_ptr<BatchNorm> device_batch_norm(DeviceContext& context, const BatchNormSpec& spec) {
  return std::make_unique<DeviceBatchNorm>(context, spec);
}

}  // namespace sterna::nets
