#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

class DeviceLoss final : public Loss {
 public:
  DeviceLoss(DeviceContext& context, const LossSpec& spec)
      : context_(context),
        spec_(spec),
        labels_(context, spec.batch),
        lost_(must(kernels::DeviceArray<double>::make(*context.device, spec.batch))),
        loss_(context, spec.passes) {}

  void set_labels(std::span<const std::uint16_t> labels, std::size_t pass) override {
    labels_there_ = labels_.send(labels);
    pass_ = pass;
  }
  void backward(const Tensor& logits, Tensor& gradient) override {
    context_.run(kernels::LossLaunch{.logits = numbers(logits),
                                     .labels = labels_there_,
                                     .gradient = numbers(gradient),
                                     .lost = lost_.data(),
                                     .loss = loss_.place(),
                                     .rows = spec_.batch,
                                     .classes = spec_.classes,
                                     .smoothing = spec_.cross_entropy.smoothing,
                                     .weight = spec_.cross_entropy.weight});
    loss_.send(pass_);
  }
  float loss(std::size_t pass) override { return loss_.wait(pass); }

 private:
  DeviceContext& context_;
  LossSpec spec_;
  Inbox<std::uint16_t> labels_;
  const std::uint16_t* labels_there_ = nullptr;
  std::size_t pass_ = 0;
  kernels::DeviceArray<double> lost_;
  Outbox<float> loss_;
};

class DeviceSquaredError final : public Loss {
 public:
  DeviceSquaredError(DeviceContext& context, const LossSpec& spec)
      : context_(context), spec_(spec), loss_(context, spec.passes) {}

  void set_labels(std::span<const std::uint16_t> /*labels*/, std::size_t pass) override {
    pass_ = pass;
  }
  void backward(const Tensor& logits, Tensor& gradient) override {
    context_.run(kernels::SquaredErrorLaunch{.values = numbers(logits),
                                             .gradient = numbers(gradient),
                                             .loss = loss_.place(),
                                             .count = spec_.batch * spec_.classes,
                                             .target = *spec_.target,
                                             .weight = spec_.cross_entropy.weight});
    loss_.send(pass_);
  }
  float loss(std::size_t pass) override { return loss_.wait(pass); }

 private:
  DeviceContext& context_;
  LossSpec spec_;
  std::size_t pass_ = 0;
  Outbox<float> loss_;
};

}  // namespace

std::unique_ptr<Loss> device_loss(DeviceContext& context, const LossSpec& spec) {
  if (spec.target) return std::make_unique<DeviceSquaredError>(context, spec);
  return std::make_unique<DeviceLoss>(context, spec);
}

}  // namespace sterna::nets
