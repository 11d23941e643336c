// Convolution, channels last. Activations' format was chosen by measuring LeNet at batch 64 on one
// AVX-512 core (milliseconds for conv2's forward, weight gradient and input gradient):
//   activations in oneDNN's own choice (16 channels to a block)   6.2  6.9  6.4   20 pads to 32, 50
//                                                                                 to 64
//   channels first                                                9.1  9.8 10.7
//   channels last                                                 3.8  4.7  5.1   <- used
// Weights are blocked by oneDNN (small tensors: 10 µs to reorder), and made bf16 on the way where
// activations are.
#include "nets/backend/convolution.h"

#include <optional>
#include <string_view>
#include <utility>

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

/// oneDNN prefers its batch-reduce kernels, which lose to the direct ones where channels do not
/// fill vectors (conv2 forward: 4.4 ms against 3.8). A fixed rule, since a race at start would let
/// two processes pick different kernels, and so different bits.
template <class PrimitiveDescriptor>
PrimitiveDescriptor prefer_direct(PrimitiveDescriptor first, std::size_t out_channels) {
  if (out_channels % 16 == 0) return first;
  PrimitiveDescriptor candidate = first;
  do {
    if (std::string_view(candidate.impl_info_str()).starts_with("jit:avx512")) return candidate;
  } while (candidate.next_impl());
  return first;
}

/// The gradient by weights of windows of one pixel is one product of matrices, which oneDNN 2.6's
/// kernels for AMX take two to four times as long for as its own multiplication does (512 to 160
/// channels, 14 × 14, batch 32: 4.8 ms against 1.4).
template <class PrimitiveDescriptor>
PrimitiveDescriptor prefer_product(PrimitiveDescriptor first, const ConvolutionSpec& spec) {
  const auto is = [](const PrimitiveDescriptor& one, std::string_view kind) {
    return std::string_view(one.impl_info_str()).find(kind) != std::string_view::npos;
  };
  const Slide down = spec.window.down(), across = spec.window.across();
  const bool one_pixel = down.kernel * across.kernel == 1 && down.stride * across.stride == 1;
  if (!one_pixel || !is(first, "amx")) return first;
  PrimitiveDescriptor candidate = first;
  do {
    if (is(candidate, "gemm")) return candidate;
  } while (candidate.next_impl());
  return first;
}

/// The window's strides. Where it fits only once across, its stride says nothing; but oneDNN 2.6's
/// gradient by weights in bf16 reads what nobody wrote where an image is narrower than the stride.
Dims strides_of(const ConvolutionSpec& spec, const WindowDims& window) {
  Dims strides = window.strides;
  const auto width = static_cast<std::int64_t>(spec.input[3]);
  const bool once = width + window.before[1] + window.after[1] == window.kernel[1];
  if (spec.element == Element::bf16 && once) strides[1] = 1;
  return strides;
}

class OneDnnConvolution final : public Convolution {
 public:
  OneDnnConvolution(OneDnnBackend::Context& context, const ConvolutionSpec& spec) {
    const TeamSize team(context.threads);
    const WindowDims window(spec.window, spec.input);
    const Dims strides = strides_of(spec, window);
    const std::size_t in_channels = spec.input[1] / spec.groups;
    Dims weights = {static_cast<std::int64_t>(spec.out_channels),
                    static_cast<std::int64_t>(in_channels), window.kernel[0], window.kernel[1]};
    if (spec.groups > 1) {
      const auto groups = static_cast<std::int64_t>(spec.groups);
      weights[0] /= groups;
      weights.insert(weights.begin(), groups);
    }
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc, spec.element);
    const Descriptor y =
        describe({static_cast<std::int64_t>(spec.input[0]),
                  static_cast<std::int64_t>(spec.out_channels), window.out[0], window.out[1]},
                 Tag::nhwc, spec.element);
    const Descriptor w = describe(weights, Tag::any, spec.element);
    const Descriptor dw = describe(weights, Tag::any);
    // An empty description says that there is no bias.
    const Descriptor b = spec.bias ? describe(dims_of({spec.out_channels}), Tag::x) : Descriptor();
    const Descriptor plain = describe(weights, spec.groups > 1 ? Tag::goihw : Tag::oihw);
    const auto algorithm = dnnl::algorithm::convolution_direct;

    using Forward = dnnl::convolution_forward;
    const Forward::primitive_desc forward =
        prefer_direct(Forward::primitive_desc({dnnl::prop_kind::forward_training, algorithm, x, w,
                                               b, y, strides, window.before, window.after},
                                              attributes(), context.engine),
                      spec.out_channels);
    forward_weights_ = dnnl::memory(forward.weights_desc(), context.engine);
    to_forward_.emplace(context, plain, forward.weights_desc());
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_WEIGHTS, forward_weights_).add(DNNL_ARG_DST, y);
    if (spec.bias) forward_->add(DNNL_ARG_BIAS, b);
    if (!spec.backward) return;

    using Weights = dnnl::convolution_backward_weights;
    const Weights::primitive_desc by_weights = prefer_product(
        Weights::primitive_desc({algorithm, x, dw, b, y, strides, window.before, window.after},
                                attributes(), context.engine, forward),
        spec);
    weights_gradient_ = dnnl::memory(by_weights.diff_weights_desc(), context.engine);
    from_gradient_.emplace(context, by_weights.diff_weights_desc(), plain);
    by_weights_.emplace(context, by_weights, Weights(by_weights));
    by_weights_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_DIFF_WEIGHTS, weights_gradient_);
    if (spec.bias) by_weights_->add(DNNL_ARG_DIFF_BIAS, b);

    if (!spec.input_gradient) return;
    using Data = dnnl::convolution_backward_data;
    const Data::primitive_desc by_data({algorithm, x, w, y, strides, window.before, window.after},
                                       attributes(), context.engine, forward);
    backward_weights_ = dnnl::memory(by_data.weights_desc(), context.engine);
    to_backward_.emplace(context, plain, by_data.weights_desc());
    by_data_.emplace(context, by_data, Data(by_data));
    by_data_->add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_WEIGHTS, backward_weights_)
        .add(DNNL_ARG_DIFF_SRC, x);
  }

  void weights_changed() override { forward_stale_ = backward_stale_ = true; }

  void forward(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& y) override {
    if (std::exchange(forward_stale_, false))
      to_forward_->run(w.data(), forward_weights_.get_data_handle());
    if (b != nullptr) forward_->bind(DNNL_ARG_BIAS, *b);
    forward_->bind(DNNL_ARG_SRC, x).bind(DNNL_ARG_DST, y).run();
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor* db) override {
    if (db != nullptr) by_weights_->bind(DNNL_ARG_DIFF_BIAS, *db);
    by_weights_->bind(DNNL_ARG_SRC, x).bind(DNNL_ARG_DIFF_DST, dy).run();
    from_gradient_->run(weights_gradient_.get_data_handle(), dw.data());
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    if (std::exchange(backward_stale_, false))
      to_backward_->run(w.data(), backward_weights_.get_data_handle());
    by_data_->bind(DNNL_ARG_DIFF_DST, dy).bind(DNNL_ARG_DIFF_SRC, dx).run();
  }

 private:
  bool forward_stale_ = true, backward_stale_ = true;
  dnnl::memory forward_weights_, backward_weights_, weights_gradient_;
  std::optional<Reorder> to_forward_, to_backward_, from_gradient_;
  std::optional<Primitive> forward_, by_weights_, by_data_;
};

}  // namespace

std::unique_ptr<Convolution> OneDnnBackend::convolution(const ConvolutionSpec& spec) {
  return std::make_unique<OneDnnConvolution>(*context_, spec);
}

}  // namespace sterna::nets
