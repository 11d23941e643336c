#include "nets/backend/convolution.h"

#include <vector>

#include "nets/device/operations.h"
#include "nets/device/windows.h"

namespace sterna::nets {
namespace {

using kernels::ProductLaunch;
using kernels::WindowLaunch;
using kernels::WindowPass;

/// Whether each window is one pixel of its own: the image is its windows.
bool windows_are_pixels(const kernels::Windows& w) {
  return w.kernel_rows == 1 && w.kernel_columns == 1 && w.stride == 1 && w.rows == w.out_rows &&
         w.columns == w.out_columns;
}

/// Products with the windows' pixels, which are laid side by side first, those of a group's
/// channels beside each other.
class DeviceConvolution final : public Convolution {
 public:
  DeviceConvolution(DeviceContext& context, const ConvolutionSpec& spec)
      : context_(context),
        windows_(windows_of(spec.input, spec.window)),
        groups_(spec.groups),
        out_(spec.out_channels),
        pixels_(std::size_t{windows_.images} * windows_.out_rows * windows_.out_columns),
        depth_(std::size_t{windows_.channels} * windows_.kernel_rows * windows_.kernel_columns),
        plain_(windows_are_pixels(windows_)),
        one_(must(
            kernels::uploaded<float>(*context.device, *context.stream, std::vector<float>{1.0F}))) {
    if (!plain_) context.reserve<float>(pixels_ * depth_);
  }

  void weights_changed() override {}
  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    const float* const unfolded = unfold(x);
    each_group([&](const Group& group) {
      context_.run(ProductLaunch{.a = {unfolded + group.in, depth_, 1},
                                 .b = {w.data() + group.weights, 1, group.depth},
                                 .bias = b != nullptr ? b->data() + group.out : nullptr,
                                 .out = y.data() + group.out,
                                 .rows = pixels_,
                                 .columns = group.outputs,
                                 .depth = group.depth,
                                 .out_row = out_});
    });
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    const float* const unfolded = unfold(x);
    each_group([&](const Group& group) {
      context_.run(ProductLaunch{.a = {dy.data() + group.out, 1, out_},
                                 .b = {unfolded + group.in, depth_, 1},
                                 .out = dw.data() + group.weights,
                                 .rows = group.outputs,
                                 .columns = group.depth,
                                 .depth = pixels_});
    });
    if (db == nullptr) return;
    context_.run(ProductLaunch{.a = {one_.data(), 0, 0},  // the sum of each column
                               .b = {dy.data(), out_, 1},
                               .out = db->data(),
                               .rows = 1,
                               .columns = out_,
                               .depth = pixels_});
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    float* const unfolded = plain_ ? dx.data() : context_.scratch<float>();
    each_group([&](const Group& group) {
      context_.run(ProductLaunch{.a = {dy.data() + group.out, out_, 1},
                                 .b = {w.data() + group.weights, group.depth, 1},
                                 .out = unfolded + group.in,
                                 .rows = pixels_,
                                 .columns = group.depth,
                                 .depth = group.outputs,
                                 .out_row = depth_});
    });
    if (plain_) return;
    context_.run(WindowLaunch{
        .pass = WindowPass::fold, .windows = windows_, .from = unfolded, .to = dx.data()});
  }

 private:
  /// What of its pixels' windows, of the weights and of the outputs is a group's.
  struct Group {
    std::size_t in, weights, out;  // where it begins
    std::size_t depth, outputs;
  };
  template <class Run>
  void each_group(Run run) const {
    const std::size_t depth = depth_ / groups_, outputs = out_ / groups_;
    for (std::size_t g = 0; g < groups_; ++g) {
      run(Group{g * depth, g * outputs * depth, g * outputs, depth, outputs});
    }
  }

  const float* unfold(const Tensor& x) const {
    if (plain_) return x.data();
    float* const unfolded = context_.scratch<float>();
    context_.run(WindowLaunch{
        .pass = WindowPass::unfold, .windows = windows_, .from = x.data(), .to = unfolded});
    return unfolded;
  }

  DeviceContext& context_;
  kernels::Windows windows_;
  std::size_t groups_;
  std::size_t out_;
  std::size_t pixels_;  // of all images' outputs
  std::size_t depth_;   // of a window
  bool plain_;          // nothing is laid anywhere
  kernels::DeviceArray<float> one_;
};

}  // namespace

std::unique_ptr<Convolution> device_convolution(DeviceContext& context,
                                                const ConvolutionSpec& spec) {
  return std::make_unique<DeviceConvolution>(context, spec);
}

}  // namespace sterna::nets
