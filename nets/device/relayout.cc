#include "nets/backend/relayout.h"

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

using kernels::TransposeLaunch;

/// Each image is a matrix of pixels and channels.
class DeviceRelayout final : public Relayout {
 public:
  DeviceRelayout(DeviceContext& context, const Shape& shape)
      : context_(context), images_(shape[0]), channels_(shape[1]), pixels_(shape[2] * shape[3]) {}
  void forward(const Tensor& channels_last, Tensor& row_major) override {
    context_.run(TransposeLaunch{.from = numbers(channels_last),
                                 .to = numbers(row_major),
                                 .count = images_,
                                 .rows = pixels_,
                                 .columns = channels_});
  }
  void backward(const Tensor& row_major, Tensor& channels_last) override {
    context_.run(TransposeLaunch{.from = numbers(row_major),
                                 .to = numbers(channels_last),
                                 .count = images_,
                                 .rows = channels_,
                                 .columns = pixels_});
  }

 private:
  DeviceContext& context_;
  std::size_t images_;
  std::size_t channels_;
  std::size_t pixels_;
};

}  // namespace

std::unique_ptr<Relayout> device_relayout(DeviceContext& context, const RelayoutSpec& spec) {
  return std::make_unique<DeviceRelayout>(context, spec.shape);
}

}  // namespace sterna::nets
