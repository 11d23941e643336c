#include "nets/backend/dropout.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

class DeviceDropout final : public Dropout {
 public:
  DeviceDropout(DeviceContext& context, const DropoutSpec& spec) : context_(context), spec_(spec) {}
  void run(const Tensor& x, const kernels::DropoutDraw& draw, Tensor& y) override {
    context_.run(kernels::DropoutLaunch{.x = x.data(),
                                        .out = y.data(),
                                        .count = spec_.count,
                                        .first = draw.first,
                                        .seed = draw.seed,
                                        .step = draw.step,
                                        .rank_layer = draw.rank << 16 | draw.layer,
                                        .limit = kernels::dropout_limit(spec_.keep),
                                        .factor = 1 / spec_.keep});
  }

 private:
  DeviceContext& context_;
  DropoutSpec spec_;
};

}  // namespace

std::unique_ptr<Dropout> device_dropout(DeviceContext& context, const DropoutSpec& spec) {
  return std::make_unique<DeviceDropout>(context, spec);
}

}  // namespace sterna::nets
