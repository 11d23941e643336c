// oneDNN for the operations of backend.h.
//
// Formats, chosen by measuring LeNet at batch 64 on one AVX-512 core (milliseconds for conv2's
// forward, weight gradient and input gradient):
//   activations in oneDNN's own choice (16 channels to a block)   6.2  6.9  6.4   20 pads to 32, 50
//                                                                                 to 64
//   channels first                                                9.1  9.8 10.7
//   channels last                                                 3.8  4.7  5.1   <- used
// Convolution weights are blocked by oneDNN (small tensors: 10 µs to reorder). Inner product
// weights stay row-major: forward costs 1.3 ms instead of 1.0, the gradients nothing, and the 4.9
// MB of fc3 are never copied, neither on their way in nor the gradient's on its way out.
#include "nets/onednn/onednn_backend.h"

#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <dnnl.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nets/onednn/halving_pool.h"

// Debian's oneDNN runs on libgomp. Declared here because clang has no omp.h for it.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
}

namespace sterna::nets {
namespace {

using dnnl::memory;
using dnnl::prop_kind;
using Dims = memory::dims;
using Tag = memory::format_tag;
using Descriptor = memory::desc;

/// Holds the calling thread's OpenMP team at a size, which is that thread's own setting.
class TeamSize {
 public:
  explicit TeamSize(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~TeamSize() { omp_set_num_threads(before_); }
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
};

/// What the operations of one backend share.
struct Context {
  explicit Context(int team) : threads(team) {}
  int threads;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::uint64_t reorders = 0;
  /// One scratchpad for all, ours: the library's belongs to the thread that made the primitive,
  /// and a net may be made in one thread and run in another.
  Buffer scratch{0};

  void reserve_scratch(std::size_t size) {
    if (size > scratch.size()) scratch = Buffer(size);
  }
};

Descriptor describe(const Dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

Dims dims_of(const Shape& shape) {
  Dims dims;
  for (const std::size_t extent : shape) dims.push_back(static_cast<memory::dim>(extent));
  return dims;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

/// A primitive with its arguments: bound once where the operation owns them, per run where the
/// caller does.
class Step {
 public:
  template <class Descriptor>
  Step(Context& context, const Descriptor& descriptor, dnnl::primitive primitive)
      : context_(context),
        primitive_(std::move(primitive)),
        scratch_size_(descriptor.scratchpad_desc().get_size()) {
    context_.reserve_scratch(scratch_size_);
    if (scratch_size_ > 0) add(DNNL_ARG_SCRATCHPAD, descriptor.scratchpad_desc());
  }
  /// An argument that the caller binds.
  Step& add(int argument, const Descriptor& descriptor) {
    arguments_.emplace(argument, memory(descriptor, context_.engine, DNNL_MEMORY_NONE));
    return *this;
  }
  /// An argument that the operation owns.
  Step& add(int argument, const memory& owned) {
    arguments_.emplace(argument, owned);
    return *this;
  }
  Step& bind(int argument, const float* data) {
    // oneDNN's handles are not const; inputs are only read.
    arguments_.at(argument).set_data_handle(const_cast<float*>(data));
    return *this;
  }
  void run() {
    const TeamSize team(context_.threads);
    if (scratch_size_ > 0)
      arguments_.at(DNNL_ARG_SCRATCHPAD).set_data_handle(context_.scratch.data());
    primitive_.execute(context_.stream, arguments_);
    context_.stream.wait();
  }

 private:
  Context& context_;
  dnnl::primitive primitive_;
  std::size_t scratch_size_;
  std::unordered_map<int, memory> arguments_;
};

/// A copy from one format to another, counted.
class Reorder {
 public:
  Reorder(Context& context, const Descriptor& from, const Descriptor& to)
      : Reorder(context, dnnl::reorder::primitive_desc(context.engine, from, context.engine, to,
                                                       attributes())) {
    step_.add(DNNL_ARG_FROM, from).add(DNNL_ARG_TO, to);
  }
  void run(const float* from, float* to) {
    step_.bind(DNNL_ARG_FROM, from).bind(DNNL_ARG_TO, to).run();
    ++context_.reorders;
  }

 private:
  Reorder(Context& context, const dnnl::reorder::primitive_desc& descriptor)
      : context_(context), step_(context, descriptor, dnnl::reorder(descriptor)) {}
  Context& context_;
  Step step_;
};

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

class OneDnnConvolution final : public Convolution {
 public:
  OneDnnConvolution(Context& context, const ConvolutionSpec& spec) {
    const TeamSize team(context.threads);
    const Window& window = spec.window;
    const std::size_t in_channels = spec.input[1], height = spec.input[2], width = spec.input[3];
    const std::size_t kernel = window.kernel;
    const Dims weights = dims_of({spec.out_channels, in_channels, kernel, kernel});
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc);
    const Descriptor y =
        describe(dims_of({spec.input[0], spec.out_channels, window.out(height), window.out(width)}),
                 Tag::nhwc);
    const Descriptor w = describe(weights, Tag::any);
    const Descriptor b = describe(dims_of({spec.out_channels}), Tag::x);
    const Descriptor plain = describe(weights, Tag::oihw);
    const Dims strides = dims_of({window.stride, window.stride});
    const Dims before = dims_of({window.before(height), window.before(width)});
    const Dims after = dims_of({window.after(height), window.after(width)});
    const auto algorithm = dnnl::algorithm::convolution_direct;

    using Forward = dnnl::convolution_forward;
    const Forward::primitive_desc forward = prefer_direct(
        Forward::primitive_desc(
            {prop_kind::forward_training, algorithm, x, w, b, y, strides, before, after},
            attributes(), context.engine),
        spec.out_channels);
    forward_weights_ = memory(forward.weights_desc(), context.engine);
    to_forward_.emplace(context, plain, forward.weights_desc());
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_WEIGHTS, forward_weights_)
        .add(DNNL_ARG_BIAS, b)
        .add(DNNL_ARG_DST, y);

    using Weights = dnnl::convolution_backward_weights;
    const Weights::primitive_desc by_weights({algorithm, x, w, b, y, strides, before, after},
                                             attributes(), context.engine, forward);
    weights_gradient_ = memory(by_weights.diff_weights_desc(), context.engine);
    from_gradient_.emplace(context, by_weights.diff_weights_desc(), plain);
    by_weights_.emplace(context, by_weights, Weights(by_weights));
    by_weights_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_DIFF_WEIGHTS, weights_gradient_)
        .add(DNNL_ARG_DIFF_BIAS, b);

    if (!spec.input_gradient) return;
    using Data = dnnl::convolution_backward_data;
    const Data::primitive_desc by_data({algorithm, x, w, y, strides, before, after}, attributes(),
                                       context.engine, forward);
    backward_weights_ = memory(by_data.weights_desc(), context.engine);
    to_backward_.emplace(context, plain, by_data.weights_desc());
    by_data_.emplace(context, by_data, Data(by_data));
    by_data_->add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_WEIGHTS, backward_weights_)
        .add(DNNL_ARG_DIFF_SRC, x);
  }

  void weights_changed() override { forward_stale_ = backward_stale_ = true; }

  void forward(const Tensor& x, const Tensor& w, const Tensor& b, Tensor& y) override {
    if (std::exchange(forward_stale_, false)) to_forward_->run(w.data(), handle(forward_weights_));
    forward_->bind(DNNL_ARG_SRC, x.data())
        .bind(DNNL_ARG_BIAS, b.data())
        .bind(DNNL_ARG_DST, y.data())
        .run();
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& db) override {
    by_weights_->bind(DNNL_ARG_SRC, x.data())
        .bind(DNNL_ARG_DIFF_DST, dy.data())
        .bind(DNNL_ARG_DIFF_BIAS, db.data())
        .run();
    from_gradient_->run(handle(weights_gradient_), dw.data());
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    if (std::exchange(backward_stale_, false))
      to_backward_->run(w.data(), handle(backward_weights_));
    by_data_->bind(DNNL_ARG_DIFF_DST, dy.data()).bind(DNNL_ARG_DIFF_SRC, dx.data()).run();
  }

 private:
  static float* handle(const memory& owned) { return static_cast<float*>(owned.get_data_handle()); }

  bool forward_stale_ = true, backward_stale_ = true;
  memory forward_weights_, backward_weights_, weights_gradient_;
  std::optional<Reorder> to_forward_, to_backward_, from_gradient_;
  std::optional<Step> forward_, by_weights_, by_data_;
};

class OneDnnInnerProduct final : public InnerProduct {
 public:
  OneDnnInnerProduct(Context& context, const InnerProductSpec& spec) {
    const TeamSize team(context.threads);
    const Descriptor x = describe(dims_of({spec.batch, spec.in}), Tag::nc);
    const Descriptor w = describe(dims_of({spec.out, spec.in}), Tag::oi);
    const Descriptor b = describe(dims_of({spec.out}), Tag::x);
    const Descriptor y = describe(dims_of({spec.batch, spec.out}), Tag::nc);

    using Forward = dnnl::inner_product_forward;
    const Forward::primitive_desc forward({prop_kind::forward_training, x, w, b, y}, attributes(),
                                          context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_WEIGHTS, w)
        .add(DNNL_ARG_BIAS, b)
        .add(DNNL_ARG_DST, y);
    using Weights = dnnl::inner_product_backward_weights;
    const Weights::primitive_desc by_weights({x, w, b, y}, attributes(), context.engine, forward);
    by_weights_.emplace(context, by_weights, Weights(by_weights));
    by_weights_->add(DNNL_ARG_SRC, x)
        .add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_DIFF_WEIGHTS, w)
        .add(DNNL_ARG_DIFF_BIAS, b);

    if (!spec.input_gradient) return;
    using Data = dnnl::inner_product_backward_data;
    const Data::primitive_desc by_data({x, w, y}, attributes(), context.engine, forward);
    by_data_.emplace(context, by_data, Data(by_data));
    by_data_->add(DNNL_ARG_DIFF_DST, y).add(DNNL_ARG_WEIGHTS, w).add(DNNL_ARG_DIFF_SRC, x);
  }

  void forward(const Tensor& x, const Tensor& w, const Tensor& b, Tensor& y) override {
    forward_->bind(DNNL_ARG_SRC, x.data())
        .bind(DNNL_ARG_WEIGHTS, w.data())
        .bind(DNNL_ARG_BIAS, b.data())
        .bind(DNNL_ARG_DST, y.data())
        .run();
  }
  void backward_parameters(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& db) override {
    by_weights_->bind(DNNL_ARG_SRC, x.data())
        .bind(DNNL_ARG_DIFF_DST, dy.data())
        .bind(DNNL_ARG_DIFF_WEIGHTS, dw.data())
        .bind(DNNL_ARG_DIFF_BIAS, db.data())
        .run();
  }
  void backward_data(const Tensor& dy, const Tensor& w, Tensor& dx) override {
    by_data_->bind(DNNL_ARG_DIFF_DST, dy.data())
        .bind(DNNL_ARG_WEIGHTS, w.data())
        .bind(DNNL_ARG_DIFF_SRC, dx.data())
        .run();
  }

 private:
  std::optional<Step> forward_, by_weights_, by_data_;
};

class OneDnnMaxPool final : public MaxPool {
 public:
  OneDnnMaxPool(Context& context, const MaxPoolSpec& spec) {
    const TeamSize team(context.threads);
    const Window& window = spec.window;
    const std::size_t height = spec.input[2], width = spec.input[3];
    const Descriptor x = describe(dims_of(spec.input), Tag::nhwc);
    const Descriptor y = describe(
        dims_of({spec.input[0], spec.input[1], window.out(height), window.out(width)}), Tag::nhwc);
    const Dims strides = dims_of({window.stride, window.stride});
    const Dims kernel = dims_of({window.kernel, window.kernel});
    const Dims before = dims_of({window.before(height), window.before(width)});
    const Dims after = dims_of({window.after(height), window.after(width)});
    const auto algorithm = dnnl::algorithm::pooling_max;

    using Forward = dnnl::pooling_forward;
    const Forward::primitive_desc forward(
        {prop_kind::forward_training, algorithm, x, y, strides, kernel, before, after},
        attributes(), context.engine);
    const memory workspace(forward.workspace_desc(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DST, y).add(DNNL_ARG_WORKSPACE, workspace);

    using Backward = dnnl::pooling_backward;
    const Backward::primitive_desc backward({algorithm, x, y, strides, kernel, before, after},
                                            attributes(), context.engine, forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_DIFF_DST, y)
        .add(DNNL_ARG_DIFF_SRC, x)
        .add(DNNL_ARG_WORKSPACE, workspace);
  }
  void forward(const Tensor& x, Tensor& y) override {
    forward_->bind(DNNL_ARG_SRC, x.data()).bind(DNNL_ARG_DST, y.data()).run();
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    backward_->bind(DNNL_ARG_DIFF_DST, dy.data()).bind(DNNL_ARG_DIFF_SRC, dx.data()).run();
  }

 private:
  std::optional<Step> forward_, backward_;
};

/// Pooling that tiles the image, without oneDNN.
class HalvingMaxPool final : public MaxPool {
 public:
  explicit HalvingMaxPool(const Shape& in)
      : pool_{.rows = in[0] * in[2] / 2, .columns = in[3] / 2, .channels = in[1]},
        winner_(element_count(in) / 4) {}
  static bool fits(const MaxPoolSpec& spec) {
    return spec.window.kernel == 2 && spec.window.stride == 2 && spec.input[2] % 2 == 0 &&
           spec.input[3] % 2 == 0;
  }
  void forward(const Tensor& x, Tensor& y) override {
    halving_pool_forward(pool_, isa_, x.data(), y.data(), winner_.as<std::uint8_t>().data());
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    halving_pool_backward(pool_, isa_, dy.data(), winner_.as<std::uint8_t>().data(), dx.data());
  }

 private:
  HalvingPool pool_;
  kernels::Isa isa_ = kernels::best_isa();
  Buffer winner_;
};

class OneDnnRelu final : public Relu {
 public:
  OneDnnRelu(Context& context, std::size_t count) {
    const TeamSize team(context.threads);
    const Descriptor x = describe(dims_of({count}), Tag::x);
    const auto algorithm = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    using Forward = dnnl::eltwise_forward;
    const Forward::primitive_desc forward({prop_kind::forward_training, algorithm, x, 0.F},
                                          attributes(), context.engine);
    forward_.emplace(context, forward, Forward(forward));
    forward_->add(DNNL_ARG_SRC, x).add(DNNL_ARG_DST, x);
    using Backward = dnnl::eltwise_backward;
    const Backward::primitive_desc backward({algorithm, x, x, 0.F}, attributes(), context.engine,
                                            forward);
    backward_.emplace(context, backward, Backward(backward));
    backward_->add(DNNL_ARG_DST, x).add(DNNL_ARG_DIFF_DST, x).add(DNNL_ARG_DIFF_SRC, x);
  }
  void forward(Tensor& xy) override {
    forward_->bind(DNNL_ARG_SRC, xy.data()).bind(DNNL_ARG_DST, xy.data()).run();
  }
  void backward(const Tensor& y, Tensor& dy) override {
    backward_->bind(DNNL_ARG_DST, y.data())
        .bind(DNNL_ARG_DIFF_DST, dy.data())
        .bind(DNNL_ARG_DIFF_SRC, dy.data())
        .run();
  }

 private:
  std::optional<Step> forward_, backward_;
};

class OneDnnRelayout final : public Relayout {
 public:
  OneDnnRelayout(Context& context, const Shape& shape)
      : forward_(context, describe(dims_of(shape), Tag::nhwc), describe(dims_of(shape), Tag::nchw)),
        backward_(context, describe(dims_of(shape), Tag::nchw),
                  describe(dims_of(shape), Tag::nhwc)) {}
  void forward(const Tensor& channels_last, Tensor& row_major) override {
    forward_.run(channels_last.data(), row_major.data());
  }
  void backward(const Tensor& row_major, Tensor& channels_last) override {
    backward_.run(row_major.data(), channels_last.data());
  }

 private:
  Reorder forward_, backward_;
};

class OneDnnBackend final : public Backend {
 public:
  explicit OneDnnBackend(int threads) : context_(threads) {}
  std::unique_ptr<Convolution> convolution(const ConvolutionSpec& spec) override {
    return std::make_unique<OneDnnConvolution>(context_, spec);
  }
  std::unique_ptr<InnerProduct> inner_product(const InnerProductSpec& spec) override {
    return std::make_unique<OneDnnInnerProduct>(context_, spec);
  }
  std::unique_ptr<MaxPool> max_pool(const MaxPoolSpec& spec) override {
    // Ours runs on one thread, and is as fast as oneDNN on six.
    if (HalvingMaxPool::fits(spec) && context_.threads <= 6)
      return std::make_unique<HalvingMaxPool>(spec.input);
    return std::make_unique<OneDnnMaxPool>(context_, spec);
  }
  std::unique_ptr<Relu> relu(std::size_t count) override {
    return std::make_unique<OneDnnRelu>(context_, count);
  }
  std::unique_ptr<Relayout> relayout(const Shape& shape) override {
    const TeamSize team(context_.threads);
    return std::make_unique<OneDnnRelayout>(context_, shape);
  }
  std::uint64_t reorders() const override { return context_.reorders; }

 private:
  Context context_;
};

/// Whether libgomp was told not to spin. It has no call that answers this.
bool waits_passively() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  const char* spins = std::getenv("GOMP_SPINCOUNT");
  return (policy != nullptr && strcasecmp(policy, "passive") == 0) ||
         (spins != nullptr && std::string_view(spins) == "0");
}

/// oneDNN takes a cap only before it first computes, and for the whole process.
Result<void> cap_isa(const std::string& isa) {
  if (isa == "best") return {};
  if (isa != "avx512" && isa != "avx2" && isa != "scalar")
    return Error{Errc::invalid_argument, "no instruction set is called \"" + isa + "\""};
  const auto cap = isa == "avx512" ? dnnl::cpu_isa::avx512_core
                   : isa == "avx2" ? dnnl::cpu_isa::avx2
                                   : dnnl::cpu_isa::sse41;
  if (dnnl::set_max_cpu_isa(cap) == dnnl::status::success) return {};
  // Each set's number has the bits of those that it includes.
  const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  if ((used & ~static_cast<unsigned>(cap)) == 0) return {};
  return Error{Errc::unavailable, "this process computes with more than " + isa + " already"};
}

}  // namespace

Result<std::unique_ptr<Backend>> make_onednn_backend(const OneDnnOptions& options) {
  if (options.threads < 1)
    return Error{Errc::invalid_argument,
                 "compute threads: " + std::to_string(options.threads) + "; at least 1 is needed"};
  if (options.threads > 1 && !waits_passively())
    return Error{Errc::invalid_argument,
                 "several compute threads need OMP_WAIT_POLICY=PASSIVE in the environment that the "
                 "program is started with; without it they spin while they wait"};
  STERNA_TRY(cap_isa(options.isa));
  try {
    return std::unique_ptr<Backend>(std::make_unique<OneDnnBackend>(options.threads));
  } catch (const std::exception& failure) {
    return Error{Errc::unavailable, std::string("oneDNN does not start: ") + failure.what()};
  }
}

}  // namespace sterna::nets
