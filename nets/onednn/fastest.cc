#include "nets/onednn/fastest.h"

#include <algorithm>
#include <ctime>
#include <dnnl.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

using Type = dnnl::memory::data_type;
using Arguments = std::unordered_map<int, dnnl::memory>;

/// Formats of images that oneDNN has kernels for.
constexpr Tag kImageTags[] = {Tag::nhwc, Tag::nchw, Tag::nChw8c, Tag::nChw16c};

/// Of this thread, which a busy machine disturbs least.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The fastest candidate for one pass.
struct Best {
  double seconds = std::numeric_limits<double>::infinity();
  std::string implementation;
  bool reference = true;
};

class Measuring {
 public:
  Measuring(Element element, int rounds)
      : type(element == Element::bf16 ? Type::bf16 : Type::f32), rounds_(rounds) {}

  /// Calls `make` for each format, and whatever it offers for it; where it has none, it throws.
  template <class Make>
  static void each_format(Make make) {
    for (const Tag tag : kImageTags) {
      try {
        make(tag);
      } catch (const dnnl::error&) {
        continue;  // not with this format
      }
    }
  }

  /// All implementations behind a descriptor.
  template <class MadePrimitive, class Descriptor>
  void offer(Best& best, Descriptor descriptor,
             const std::vector<std::pair<int, dnnl::memory>>& in) {
    do {
      const std::string name = descriptor.impl_info_str();
      const bool reference = name.starts_with("ref");
      if (reference && !best.reference) continue;
      Arguments arguments(in.begin(), in.end());
      if (descriptor.scratchpad_desc().get_size() > 0) {
        arguments[DNNL_ARG_SCRATCHPAD] = dnnl::memory(descriptor.scratchpad_desc(), engine);
      }
      const double seconds = run(MadePrimitive(descriptor), arguments, best.seconds);
      if (seconds < best.seconds || (best.reference && !reference)) {
        best = {seconds, name, reference};
      }
    } while (descriptor.next_impl());
  }

  /// Memory of a format, full of small numbers.
  dnnl::memory filled(const dnnl::memory::desc& description) const {
    dnnl::memory memory(description, engine);
    auto* bytes = static_cast<unsigned char*>(memory.get_data_handle());
    std::fill_n(bytes, description.get_size(), static_cast<unsigned char>(0x3C));  // 0.011
    return memory;
  }

  dnnl::memory::desc image(const Shape& shape, Tag tag) const {
    return {dims_of(shape), type, tag};
  }

  const Type type;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};

 private:
  double run(const dnnl::primitive& primitive, const Arguments& arguments, double best) {
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 1 + rounds_; ++round) {
      const double start = thread_seconds();
      primitive.execute(stream_, arguments);
      stream_.wait();
      least = std::min(least, thread_seconds() - start);
      if (round == 1 && least > 1.5 * best) break;  // never will be
    }
    return least;
  }

  dnnl::stream stream_{engine};
  int rounds_;
};

void add(FastestPasses& passes, const Best& forward, const Best& data, const Best& weights) {
  for (const Best* pass : {&forward, &data, &weights}) {
    if (!pass->implementation.empty()) passes.seconds += pass->seconds;
  }
  passes.forward = forward.implementation;
  passes.backward_data = data.implementation;
  passes.backward_weights = weights.implementation;
}

void measure(Measuring& m, const ConvolutionSpec& spec, FastestPasses& passes) {
  const WindowDims window(spec.window, spec.input);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto groups = static_cast<std::int64_t>(spec.groups);
  Dims weights = {static_cast<std::int64_t>(spec.out_channels),
                  static_cast<std::int64_t>(spec.input[1]) / groups, window.kernel[0],
                  window.kernel[1]};
  if (groups > 1) {
    weights[0] /= groups;
    weights.insert(weights.begin(), groups);
  }
  const Dims out = {static_cast<std::int64_t>(spec.input[0]),
                    static_cast<std::int64_t>(spec.out_channels), window.out[0], window.out[1]};
  Best forward, data, by_weights;
  Measuring::each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag), y(out, m.type, tag);
    const dnnl::memory::desc w(weights, m.type, Tag::any);
    const dnnl::memory::desc dw(weights, Type::f32, Tag::any);
    const dnnl::memory::desc b =
        spec.bias ? describe(dims_of({spec.out_channels}), Tag::x) : dnnl::memory::desc();
    using Forward = dnnl::convolution_forward;
    const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, algorithm, x, w, b, y,
                                        window.strides, window.before, window.after},
                                       attributes(), m.engine);
    std::vector<std::pair<int, dnnl::memory>> arguments = {
        {DNNL_ARG_SRC, m.filled(x)},
        {DNNL_ARG_WEIGHTS, m.filled(hint.weights_desc())},
        {DNNL_ARG_DST, m.filled(y)}};
    if (spec.bias) arguments.emplace_back(DNNL_ARG_BIAS, m.filled(b));
    m.offer<Forward>(forward, hint, arguments);

    using Weights = dnnl::convolution_backward_weights;
    const Weights::primitive_desc gradient(
        {algorithm, x, dw, b, y, window.strides, window.before, window.after}, attributes(),
        m.engine, hint);
    arguments = {{DNNL_ARG_SRC, m.filled(x)},
                 {DNNL_ARG_DIFF_DST, m.filled(y)},
                 {DNNL_ARG_DIFF_WEIGHTS, m.filled(gradient.diff_weights_desc())}};
    if (spec.bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, m.filled(b));
    m.offer<Weights>(by_weights, gradient, arguments);

    if (!spec.input_gradient) return;
    using Data = dnnl::convolution_backward_data;
    const Data::primitive_desc back(
        {algorithm, x, w, y, window.strides, window.before, window.after}, attributes(), m.engine,
        hint);
    m.offer<Data>(data, back,
                  {{DNNL_ARG_DIFF_DST, m.filled(y)},
                   {DNNL_ARG_WEIGHTS, m.filled(back.weights_desc())},
                   {DNNL_ARG_DIFF_SRC, m.filled(x)}});
  });
  add(passes, forward, data, by_weights);
}

void measure(Measuring& m, const InnerProductSpec& spec, FastestPasses& passes) {
  const dnnl::memory::desc x = {dims_of({spec.batch, spec.in}), m.type, Tag::ab};
  const dnnl::memory::desc y = {dims_of({spec.batch, spec.out}), m.type, Tag::ab};
  const dnnl::memory::desc w = {dims_of({spec.out, spec.in}), m.type, Tag::any};
  const dnnl::memory::desc dw = {dims_of({spec.out, spec.in}), Type::f32, Tag::any};
  const dnnl::memory::desc b =
      spec.bias ? describe(dims_of({spec.out}), Tag::x) : dnnl::memory::desc();
  Best forward, data, by_weights;
  using Forward = dnnl::inner_product_forward;
  const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, x, w, b, y}, attributes(),
                                     m.engine);
  std::vector<std::pair<int, dnnl::memory>> arguments = {
      {DNNL_ARG_SRC, m.filled(x)},
      {DNNL_ARG_WEIGHTS, m.filled(hint.weights_desc())},
      {DNNL_ARG_DST, m.filled(y)}};
  if (spec.bias) arguments.emplace_back(DNNL_ARG_BIAS, m.filled(b));
  m.offer<Forward>(forward, hint, arguments);
  using Weights = dnnl::inner_product_backward_weights;
  const Weights::primitive_desc gradient({x, dw, b, y}, attributes(), m.engine, hint);
  arguments = {{DNNL_ARG_SRC, m.filled(x)},
               {DNNL_ARG_DIFF_DST, m.filled(y)},
               {DNNL_ARG_DIFF_WEIGHTS, m.filled(gradient.diff_weights_desc())}};
  if (spec.bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, m.filled(b));
  m.offer<Weights>(by_weights, gradient, arguments);
  if (spec.input_gradient) {
    using Data = dnnl::inner_product_backward_data;
    const Data::primitive_desc back({x, w, y}, attributes(), m.engine, hint);
    m.offer<Data>(data, back,
                  {{DNNL_ARG_DIFF_DST, m.filled(y)},
                   {DNNL_ARG_WEIGHTS, m.filled(back.weights_desc())},
                   {DNNL_ARG_DIFF_SRC, m.filled(x)}});
  }
  add(passes, forward, data, by_weights);
}

/// Of either kind.
template <class PoolSpec>
void measure_pool(Measuring& m, const PoolSpec& spec, dnnl::algorithm algorithm,
                  FastestPasses& passes) {
  const WindowDims window(spec.window, spec.input);
  const Dims out = {static_cast<std::int64_t>(spec.input[0]),
                    static_cast<std::int64_t>(spec.input[1]), window.out[0], window.out[1]};
  Best forward, data;
  Measuring::each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag), y(out, m.type, tag);
    using Forward = dnnl::pooling_forward;
    const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, algorithm, x, y,
                                        window.strides, window.kernel, window.before, window.after},
                                       attributes(), m.engine);
    std::vector<std::pair<int, dnnl::memory>> arguments = {{DNNL_ARG_SRC, m.filled(x)},
                                                           {DNNL_ARG_DST, m.filled(y)}};
    std::vector<std::pair<int, dnnl::memory>> back = {{DNNL_ARG_DIFF_DST, m.filled(y)},
                                                      {DNNL_ARG_DIFF_SRC, m.filled(x)}};
    if (hint.workspace_desc().get_size() > 0) {
      // As a forward pass leaves it.
      const dnnl::memory workspace(hint.workspace_desc(), m.engine);
      arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace);
      back.emplace_back(DNNL_ARG_WORKSPACE, workspace);
    }
    m.offer<Forward>(forward, hint, arguments);
    using Backward = dnnl::pooling_backward;
    m.offer<Backward>(data,
                      Backward::primitive_desc({algorithm, x, y, window.strides, window.kernel,
                                                window.before, window.after},
                                               attributes(), m.engine, hint),
                      back);
  });
  add(passes, forward, data, {});
}

void measure(Measuring& m, const MaxPoolSpec& spec, FastestPasses& passes) {
  measure_pool(m, spec, dnnl::algorithm::pooling_max, passes);
}

void measure(Measuring& m, const AveragePoolSpec& spec, FastestPasses& passes) {
  measure_pool(m, spec, dnnl::algorithm::pooling_avg_exclude_padding, passes);
}

void measure(Measuring& m, const BatchNormSpec& spec, FastestPasses& passes) {
  using Flags = dnnl::normalization_flags;
  Flags flags = Flags::use_shift;
  if (spec.scale) flags |= Flags::use_scale;
  if (spec.relu) flags |= Flags::fuse_norm_relu;
  const dnnl::memory::desc channel = describe(dims_of({spec.input[1]}), Tag::x);
  Best forward, data;
  Measuring::each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag);
    using Forward = dnnl::batch_normalization_forward;
    const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, x, spec.epsilon, flags},
                                       attributes(), m.engine);
    std::vector<std::pair<int, dnnl::memory>> arguments;
    for (const int channels : {DNNL_ARG_SHIFT, DNNL_ARG_SCALE, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE}) {
      arguments.emplace_back(channels, m.filled(channel));
    }
    if (hint.workspace_desc().get_size() > 0) {
      arguments.emplace_back(DNNL_ARG_WORKSPACE, dnnl::memory(hint.workspace_desc(), m.engine));
    }
    arguments.emplace_back(DNNL_ARG_SRC, m.filled(x));
    arguments.emplace_back(DNNL_ARG_DST, m.filled(x));
    m.offer<Forward>(forward, hint, arguments);
    arguments.pop_back();
    for (const int gradient : {DNNL_ARG_DIFF_SHIFT, DNNL_ARG_DIFF_SCALE}) {
      arguments.emplace_back(gradient, m.filled(channel));
    }
    arguments.emplace_back(DNNL_ARG_DIFF_SRC, m.filled(x));
    arguments.emplace_back(DNNL_ARG_DIFF_DST, m.filled(x));
    using Backward = dnnl::batch_normalization_backward;
    m.offer<Backward>(
        data,
        Backward::primitive_desc({dnnl::prop_kind::backward, x, x, spec.epsilon, flags},
                                 attributes(), m.engine, hint),
        arguments);
  });
  add(passes, forward, data, {});
}

void measure(Measuring& m, const LrnSpec& spec, FastestPasses& passes) {
  const auto size = static_cast<std::int64_t>(2 * spec.radius + 1);
  const auto algorithm = dnnl::algorithm::lrn_across_channels;
  Best forward, data;
  Measuring::each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag);
    using Forward = dnnl::lrn_forward;
    const Forward::primitive_desc hint(
        {dnnl::prop_kind::forward_training, algorithm, x, size, spec.alpha, spec.beta, spec.bias},
        attributes(), m.engine);
    std::vector<std::pair<int, dnnl::memory>> arguments = {{DNNL_ARG_SRC, m.filled(x)}};
    if (hint.workspace_desc().get_size() > 0) {
      arguments.emplace_back(DNNL_ARG_WORKSPACE, m.filled(hint.workspace_desc()));
    }
    arguments.emplace_back(DNNL_ARG_DST, m.filled(x));
    m.offer<Forward>(forward, hint, arguments);
    arguments.pop_back();
    arguments.emplace_back(DNNL_ARG_DIFF_DST, m.filled(x));
    arguments.emplace_back(DNNL_ARG_DIFF_SRC, m.filled(x));
    using Backward = dnnl::lrn_backward;
    m.offer<Backward>(
        data,
        Backward::primitive_desc({algorithm, x, x, size, spec.alpha, spec.beta, spec.bias},
                                 attributes(), m.engine, hint),
        arguments);
  });
  add(passes, forward, data, {});
}

void measure(Measuring& m, const EltwiseSpec& spec, FastestPasses& passes) {
  const dnnl::memory::desc x = {dims_of({spec.count}), m.type, Tag::x};
  const auto algorithm = spec.function == EltwiseSpec::Function::relu
                             ? dnnl::algorithm::eltwise_relu
                             : dnnl::algorithm::eltwise_logistic;
  const dnnl::memory value = m.filled(x), gradient = m.filled(x);
  Best forward, data;
  using Forward = dnnl::eltwise_forward;
  const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, algorithm, x, 0.0F, 0.0F},
                                     attributes(), m.engine);
  m.offer<Forward>(forward, hint, {{DNNL_ARG_SRC, value}, {DNNL_ARG_DST, value}});
  using Backward = dnnl::eltwise_backward;
  m.offer<Backward>(
      data, Backward::primitive_desc({algorithm, x, x, 0.0F, 0.0F}, attributes(), m.engine, hint),
      {{DNNL_ARG_SRC, value}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, gradient}});
  add(passes, forward, data, {});
}

void measure(Measuring& /*m*/, const RelayoutSpec& /*spec*/, FastestPasses& /*passes*/) {}

}  // namespace

FastestPasses measure_fastest(const Operation& operation, int rounds) {
  const TeamSize team(1);
  FastestPasses passes;
  std::visit(
      [&](const auto& spec) {
        Measuring measuring(spec.element, rounds);
        measure(measuring, spec, passes);
      },
      operation);
  return passes;
}

}  // namespace sterna::nets
