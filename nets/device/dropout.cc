#include "nets/backend/dropout.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

class DeviceDropout final : public Dropout {
 public:
  DeviceDropout(DeviceContext& context, const DropoutSpec& spec)
      : context_(context), spec_(spec), draws_(context, 1) {}
  void draw(const kernels::DropoutDraw& draw) override { draw_ = draws_.send({&draw, 1}); }
  void run(const Tensor& x, Tensor& y) override {
    context_.run(kernels::DropoutLaunch{.x = numbers(x),
                                        .out = numbers(y),
                                        .count = spec_.count,
                                        .draw = draw_,
                                        .limit = kernels::dropout_limit(spec_.keep),
                                        .factor = 1 / spec_.keep});
  }

 private:
  DeviceContext& context_;
  DropoutSpec spec_;
  Inbox<kernels::DropoutDraw> draws_;
  const kernels::DropoutDraw* draw_ = nullptr;  // of the device; each takes the place of the last
};

}  // namespace

std::unique_ptr<Dropout> device_dropout(DeviceContext& context, const DropoutSpec& spec) {
  return std::make_unique<DeviceDropout>(context, spec);
}

}  // namespace sterna::nets
