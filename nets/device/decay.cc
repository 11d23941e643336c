#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

class DeviceDecay final : public Decay {
 public:
  DeviceDecay(DeviceContext& context, const DecaySpec& spec)
      : context_(context),
        decay_(spec.decay),
        blocks_(must(kernels::DeviceArray<double>::make(*context.device,
                                                        kernels::square_blocks(spec.most)))),
        total_(context) {}

  void begin() override {
    // An fp64 is 0 where two fp32s are.
    context_.run(kernels::ElementLaunch{.pass = kernels::ElementPass::clear,
                                        .out = reinterpret_cast<float*>(total_.place()),
                                        .count = 2});
  }
  void add(const Tensor& weights, Tensor& gradient) override {
    context_.run(kernels::DecayLaunch{.weights = weights.data(),
                                      .gradient = gradient.data(),
                                      .blocks = blocks_.data(),
                                      .total = total_.place(),
                                      .count = weights.size(),
                                      .decay = decay_});
  }
  float loss() override {
    total_.send();
    return static_cast<float>(0.5 * decay_ * total_.wait());
  }

 private:
  DeviceContext& context_;
  float decay_;
  kernels::DeviceArray<double> blocks_;
  Outbox<double> total_;
};

}  // namespace

std::unique_ptr<Decay> device_decay(DeviceContext& context, const DecaySpec& spec) {
  return std::make_unique<DeviceDecay>(context, spec);
}

}  // namespace sterna::nets
