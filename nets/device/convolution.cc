#include "nets/backend/convolution.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <utility>

#include "nets/device/operand.h"
#include "nets/device/operations.h"
#include "nets/device/product.h"
#include "nets/device/windows.h"

namespace sterna::nets {
namespace {

using kernels::BiasLaunch;
using kernels::ConvolutionPass;
using kernels::DeviceOperation;
using kernels::Numbers;
using kernels::ProductLaunch;
using kernels::RoundLaunch;
using kernels::TransposeLaunch;
using kernels::WidenLaunch;
using kernels::WindowLaunch;
using kernels::WindowPass;

/// Whether each window is one pixel of its own: the image is its windows.
bool windows_are_pixels(const kernels::Windows& w) {
  return w.kernel_rows == 1 && w.kernel_columns == 1 && w.stride == 1 && w.rows == w.out_rows &&
         w.columns == w.out_columns;
}

/// What both ways of convolving have in common.
class DeviceConvolution : public Convolution {
 protected:
  DeviceConvolution(DeviceContext& context, const ConvolutionSpec& spec)
      : context_(context),
        windows_(windows_of(spec.input, spec.window)),
        groups_(spec.groups),
        out_(spec.out_channels),
        pixels_(std::size_t{windows_.images} * windows_.out_rows * windows_.out_columns),
        bf16s_(spec.element == Element::bf16) {
    assert(bf16s_ == context.multiplies_bf16s());
    if (spec.bias && spec.backward) context.reserve_sums(pixels_, out_);
  }

  void sum_bias(const Tensor& dy, Tensor* db) const {
    if (db == nullptr) return;
    context_.run(kernels::ChannelSumLaunch{
        .sums = context_.sums_of(pixels_, out_), .from = numbers(dy), .to = db->data()});
  }
  void add_bias(const Tensor* b, const Tensor& y) const {
    if (b == nullptr) return;
    context_.run(
        BiasLaunch{.bias = b->data(), .y = numbers(y), .pixels = pixels_, .channels = out_});
  }

  DeviceContext& context_;
  kernels::Windows windows_;
  std::size_t groups_;
  std::size_t out_;
  std::size_t pixels_;  // of all images' outputs
  bool bf16s_;          // images and outputs are
};

/// Products with the windows' pixels, which are laid side by side first, those of a group's
/// channels beside each other.
class ConvolutionByProducts final : public DeviceConvolution {
 public:
  ConvolutionByProducts(DeviceContext& context, const ConvolutionSpec& spec)
      : DeviceConvolution(context, spec),
        depth_(std::size_t{windows_.channels} * windows_.kernel_rows * windows_.kernel_columns),
        plain_(windows_are_pixels(windows_)),
        biased_(spec.bias && !bf16s_),
        w_(Operand::of_weights(context, out_ * depth_ / groups_)) {
    if (!plain_) context.reserve<float>(pixels_ * depth_);
    if (groups_ != 1) return;  // a library's products want matrices that begin anywhere
    forward_.emplace(context, forward_like(Group{0, 0, 0, depth_, out_}));
    if (!spec.backward) return;
    parameters_.emplace(context, parameters_like(Group{0, 0, 0, depth_, out_}));
    if (spec.input_gradient) data_.emplace(context, data_like(Group{0, 0, 0, depth_, out_}));
  }

  void weights_changed() override { w_.changed(); }
  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    const Numbers unfolded = unfold(x);
    w_.keep(numbers(w));
    each_group([&](const Group& group) {
      ProductLaunch launch = forward_like(group);
      launch.a.data = unfolded.from(group.in);
      launch.b.data = w_.numbers().from(group.weights);
      launch.bias = biased_ ? b->data() + group.out : nullptr;
      launch.out = numbers(y).from(group.out);
      run(forward_, launch);
    });
    if (!biased_) add_bias(b, y);
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    const Numbers unfolded = unfold(x);
    each_group([&](const Group& group) {
      ProductLaunch launch = parameters_like(group);
      launch.a.data = numbers(dy).from(group.out);
      launch.b.data = unfolded.from(group.in);
      launch.out = dw.data() + group.weights;
      run(parameters_, launch);
    });
    sum_bias(dy, db);
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    w_.keep(numbers(w));
    const Numbers unfolded = plain_ ? numbers(dx) : Numbers(context_.scratch<float>());
    each_group([&](const Group& group) {
      ProductLaunch launch = data_like(group);
      launch.a.data = numbers(dy).from(group.out);
      launch.b.data = w_.numbers().from(group.weights);
      launch.out = unfolded.from(group.in);
      run(data_, launch);
    });
    if (plain_) return;
    context_.run(WindowLaunch{
        .pass = WindowPass::fold, .windows = windows_, .from = unfolded, .to = numbers(dx)});
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
  void run(const std::optional<Product>& product, const ProductLaunch& launch) const {
    if (product) return product->run(launch);
    context_.run(launch);
  }

  ProductLaunch forward_like(const Group& group) const {
    static constexpr float kSome = 0;  // there is a bias
    return {.a = {nullptr, depth_, 1},
            .b = {nullptr, 1, group.depth},
            .bias = biased_ ? &kSome : nullptr,
            .out = {nullptr, bf16s_},
            .rows = pixels_,
            .columns = group.outputs,
            .depth = group.depth,
            .out_row = out_};
  }
  ProductLaunch parameters_like(const Group& group) const {
    return {.a = {nullptr, 1, out_},
            .b = {nullptr, depth_, 1},
            .rows = group.outputs,
            .columns = group.depth,
            .depth = pixels_};
  }
  ProductLaunch data_like(const Group& group) const {
    return {.a = {nullptr, out_, 1},
            .b = {nullptr, group.depth, 1},
            .out = {nullptr, bf16s_ && plain_},  // what is added up later is not rounded before
            .rows = pixels_,
            .columns = group.depth,
            .depth = group.outputs,
            .out_row = depth_};
  }

  Numbers unfold(const Tensor& x) const {
    if (plain_) return numbers(x);
    const Numbers unfolded(context_.scratch<std::byte>(), bf16s_);
    context_.run(WindowLaunch{
        .pass = WindowPass::unfold, .windows = windows_, .from = numbers(x), .to = unfolded});
    return unfolded;
  }

  std::size_t depth_;  // of a window
  bool plain_;         // nothing is laid anywhere
  bool biased_;        // by the product
  Operand w_;
  std::optional<Product> forward_, parameters_, data_;  // none where there are groups
};

/// A library's plans of each pass; those that a convolution does not have are null.
struct Plans {
  std::unique_ptr<DeviceOperation> forward, data, weights;
};

/// By a library, whose weights lie {output channels, rows, columns, input channels}. Where it wants
/// as much padding after an image as before it, images are laid into larger ones first.
class ConvolutionByLibrary final : public DeviceConvolution {
 public:
  /// Null: the library has no plan.
  static std::unique_ptr<Convolution> make(DeviceContext& context, const ConvolutionSpec& spec) {
    const kernels::Windows windows = windows_of(spec.input, spec.window);
    std::optional<Plans> plans = plan(context, spec, windows);
    if (plans) {
      return std::make_unique<ConvolutionByLibrary>(context, spec, windows, std::move(*plans));
    }
    const kernels::Windows padded = with_padding(windows);
    if (padded.rows == windows.rows && padded.columns == windows.columns) return nullptr;
    plans = plan(context, spec, padded);
    if (!plans) return nullptr;
    return std::make_unique<ConvolutionByLibrary>(context, spec, padded, std::move(*plans));
  }

  ConvolutionByLibrary(DeviceContext& context, const ConvolutionSpec& spec,
                       const kernels::Windows& planned, Plans plans)
      : DeviceConvolution(context, spec),
        planned_(planned),
        plans_(std::move(plans)),
        channels_(windows_.channels / groups_),
        window_(std::size_t{windows_.kernel_rows} * windows_.kernel_columns) {
    const std::size_t inputs = planned_pixels() * planned_.channels;
    const std::size_t weights = out_ * channels_ * window_;
    prepare(plans_.forward.get(), pixels_ * out_, bf16s_);
    prepare(plans_.data.get(), inputs, bf16s_);
    prepare(plans_.weights.get(), weights, false);
    if (turns() && plans_.weights != nullptr) context.reserve<float>(weights);
    if (pads() && plans_.data != nullptr) context.reserve<float>(inputs);
    w_ = turns() ? Operand::laid(context, weights,
                                 [this](const Numbers& from, const Numbers& to) { turn(from, to); })
                 : Operand::of_weights(context, weights);
    if (pads()) {
      x_ = Operand::laid(context, inputs,
                         [this](const Numbers& from, const Numbers& to) { pad(from, to); });
    }
  }
  ConvolutionByLibrary(const ConvolutionByLibrary&) = delete;
  ConvolutionByLibrary& operator=(const ConvolutionByLibrary&) = delete;

  /// At once, not in the pass that wants them: that may be repeated where they did not change.
  void weights_changed() override { w_.changed(); }
  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    if (pads()) x_.take(numbers(x));
    w_.keep(numbers(w));
    run(*plans_.forward, input(x), w_.numbers(), numbers(y), y.size());
    add_bias(b, y);
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    if (pads()) x_.keep(numbers(x));
    float* const out = turns() ? context_.scratch<float>() : dw.data();
    run(*plans_.weights, input(x), numbers(dy), out, dw.size());
    if (turns()) {
      context_.run(TransposeLaunch{
          .from = out, .to = dw.data(), .count = out_, .rows = window_, .columns = channels_});
    }
    sum_bias(dy, db);
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    w_.keep(numbers(w));
    const Numbers out = pads() ? Numbers(context_.scratch<std::byte>(), bf16s_) : numbers(dx);
    run(*plans_.data, numbers(dy), w_.numbers(), out, planned_pixels() * planned_.channels);
    if (!pads()) return;
    const kernels::Runs runs = inner().turned();
    if (runs.elements() < dx.size()) {
      context_.run(kernels::ElementLaunch{
          .pass = kernels::ElementPass::clear, .out = numbers(dx), .count = dx.size()});
    }
    context_.run(kernels::RunLaunch{.from = out, .to = numbers(dx), .runs = runs});
  }

 private:
  static std::optional<Plans> plan(DeviceContext& context, const ConvolutionSpec& spec,
                                   const kernels::Windows& windows) {
    bool all = true;
    const auto plan_of = [&](ConvolutionPass pass) {
      std::unique_ptr<DeviceOperation> made = must(context.stream->convolution(
          {.windows = windows,
           .out_channels = static_cast<std::uint32_t>(spec.out_channels),
           .groups = static_cast<std::uint32_t>(spec.groups),
           .pass = pass,
           .arithmetic = context.arithmetic,
           .to_bf16s = spec.element == Element::bf16 && pass != ConvolutionPass::weights}));
      all = all && made != nullptr;
      return made;
    };
    Plans plans;
    plans.forward = plan_of(ConvolutionPass::forward);
    if (all && spec.backward) plans.weights = plan_of(ConvolutionPass::weights);
    if (all && spec.backward && spec.input_gradient) plans.data = plan_of(ConvolutionPass::data);
    if (!all) return std::nullopt;
    return plans;
  }
  /// Of images that have their padding within them.
  static kernels::Windows with_padding(kernels::Windows windows) {
    windows.rows = (windows.out_rows - 1) * windows.stride + windows.kernel_rows;
    windows.columns = (windows.out_columns - 1) * windows.stride + windows.kernel_columns;
    windows.rows_before = 0;
    windows.columns_before = 0;
    return windows;
  }

  bool pads() const {
    return planned_.rows != windows_.rows || planned_.columns != windows_.columns;
  }
  bool turns() const { return channels_ != 1 && window_ != 1; }

  /// What of an image lies in a larger one; what the last window leaves out does not.
  kernels::Runs inner() const {
    const auto covered = [](std::uint32_t extent, std::uint32_t padded, std::uint32_t before) {
      return std::min(extent, padded - before);
    };
    const std::size_t channels = windows_.channels;
    const std::size_t first =
        (std::size_t{windows_.rows_before} * planned_.columns + windows_.columns_before) * channels;
    return {
        .images = windows_.images,
        .rows = covered(windows_.rows, planned_.rows, windows_.rows_before),
        .columns = 1,
        .length = covered(windows_.columns, planned_.columns, windows_.columns_before) * channels,
        .from = {0, std::size_t{windows_.rows} * windows_.columns * channels,
                 windows_.columns * channels, 0},
        .to = {first, std::size_t{planned_.rows} * planned_.columns * channels,
               planned_.columns * channels, 0}};
  }
  void pad(const Numbers& x, const Numbers& to) const {
    context_.run(kernels::RunLaunch{.from = x, .to = to, .runs = inner()});
  }
  void turn(const Numbers& weights, const Numbers& to) const {
    context_.run(TransposeLaunch{
        .from = weights, .to = to, .count = out_, .rows = channels_, .columns = window_});
  }
  Numbers input(const Tensor& x) const { return pads() ? x_.numbers() : numbers(x); }

  std::size_t planned_pixels() const {
    return std::size_t{planned_.images} * planned_.rows * planned_.columns;
  }
  /// A plan, if there is one, of which so many bf16s are wanted, or fp32s.
  void prepare(const DeviceOperation* plan, std::size_t elements, bool bf16s) const {
    if (plan == nullptr) return;
    context_.prepare(*plan);
    context_.plans.push_back(plan->name());
    const bool makes = plan->makes_bf16s();
    if (makes != bf16s) context_.reserve_made(Numbers(nullptr, makes).bytes(elements));
  }
  /// So many elements come to `out`, whatever the plan makes.
  void run(DeviceOperation& plan, const Numbers& a, const Numbers& b, const Numbers& out,
           std::size_t elements) const {
    const bool converts = plan.makes_bf16s() != out.bf16s;
    const Numbers made = converts ? context_.made(plan.makes_bf16s()) : out;
    context_.run(plan, {.a = a.at, .b = b.at, .out = made.at});
    if (!converts) return;
    if (out.bf16s) {
      context_.run(RoundLaunch{.from = static_cast<const float*>(made.at),
                               .to = static_cast<std::uint16_t*>(out.at),
                               .count = elements});
    } else {
      context_.run(WidenLaunch{.from = static_cast<const std::uint16_t*>(made.at),
                               .to = static_cast<float*>(out.at),
                               .count = elements});
    }
  }

  kernels::Windows planned_;
  Plans plans_;
  std::size_t channels_;  // of a group's input
  std::size_t window_;    // pixels of one
  Operand w_;             // as the library wants them
  Operand x_;             // with 0 around the images, where it pads
};

}  // namespace

std::unique_ptr<Convolution> device_convolution(DeviceContext& context,
                                                const ConvolutionSpec& spec) {
  // Where windows are single pixels, products are fastest, whatever must be thinned out for them.
  const kernels::Windows windows = windows_of(spec.input, spec.window);
  const bool pixels = windows.kernel_rows == 1 && windows.kernel_columns == 1 && spec.groups == 1;
  if (!pixels) {
    std::unique_ptr<Convolution> made = ConvolutionByLibrary::make(context, spec);
    if (made != nullptr) return made;
  }
  return std::make_unique<ConvolutionByProducts>(context, spec);
}

}  // namespace sterna::nets
