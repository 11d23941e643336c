#include "nets/onednn/fastest.h"

#include <algorithm>
#include <ctime>
#include <dnnl.hpp>
#include <limits>
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

/// Of a number for each channel or output.
dnnl::memory::desc vector_of(std::size_t count) { return {dims_of({count}), Type::f32, Tag::x}; }

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
  void each_format(Make make) const {
    for (const Tag tag : kImageTags) {
      // oneDNN 2.6's batch norm takes 16 channels to a block for bf16, and writes past the end.
      if (tag == Tag::nChw8c && type == Type::bf16) continue;
      try {
        make(tag);
      } catch (const dnnl::error&) {
        continue;  // not with this format
      }
    }
  }

  /// All implementations behind a descriptor; `bind` says what each is run with, whose formats
  /// and sizes are its own.
  template <class MadePrimitive, class Descriptor, class Bind>
  void offer(Best& best, Descriptor descriptor, Bind bind) {
    do {
      const std::string name = descriptor.impl_info_str();
      const bool reference = is_reference(name);
      if (reference && !best.reference) continue;
      const double seconds = run(MadePrimitive(descriptor),
                                 with_scratchpad(descriptor, bind(descriptor)), best.seconds);
      if (seconds < best.seconds || (best.reference && !reference)) {
        best = {seconds, name, reference};
      }
    } while (descriptor.next_impl());
  }

  /// Once: what a backward pass reads of the forward pass.
  template <class MadePrimitive, class Descriptor>
  void run_once(const Descriptor& descriptor, const Arguments& arguments) {
    MadePrimitive(descriptor).execute(stream_, with_scratchpad(descriptor, arguments));
    stream_.wait();
  }

  /// Memory of a format, full of small numbers.
  dnnl::memory filled(const dnnl::memory::desc& description) const {
    dnnl::memory memory(description, engine);
    auto* bytes = static_cast<unsigned char*>(memory.get_data_handle());
    std::fill_n(bytes, description.get_size(), static_cast<unsigned char>(0x3C));  // 0.011
    return memory;
  }

  /// Empty where nobody asks for any.
  dnnl::memory room(const dnnl::memory::desc& description) const {
    return description.get_size() > 0 ? dnnl::memory(description, engine) : dnnl::memory();
  }

  dnnl::memory::desc image(const Shape& shape, Tag tag) const {
    return {dims_of(shape), type, tag};
  }

  const Type type;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};

 private:
  template <class Descriptor>
  Arguments with_scratchpad(const Descriptor& descriptor, Arguments arguments) const {
    if (descriptor.scratchpad_desc().get_size() > 0) {
      arguments[DNNL_ARG_SCRATCHPAD] = dnnl::memory(descriptor.scratchpad_desc(), engine);
    }
    return arguments;
  }

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
  const dnnl::memory::desc w(weights, m.type, Tag::any), dw(weights, Type::f32, Tag::any);
  const dnnl::memory::desc b = spec.bias ? vector_of(spec.out_channels) : dnnl::memory::desc();
  const dnnl::memory bias = spec.bias ? m.filled(b) : dnnl::memory();
  Best forward, data, by_weights;
  m.each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag), y(out, m.type, tag);
    const dnnl::memory in = m.filled(x), result = m.filled(y);
    using Forward = dnnl::convolution_forward;
    const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, algorithm, x, w, b, y,
                                        window.strides, window.before, window.after},
                                       attributes(), m.engine);
    m.offer<Forward>(forward, hint, [&](const Forward::primitive_desc& one) {
      return Arguments{{DNNL_ARG_SRC, in},
                       {DNNL_ARG_WEIGHTS, m.filled(one.weights_desc())},
                       {DNNL_ARG_BIAS, bias},
                       {DNNL_ARG_DST, result}};
    });
    using Weights = dnnl::convolution_backward_weights;
    m.offer<Weights>(by_weights,
                     Weights::primitive_desc(
                         {algorithm, x, dw, b, y, window.strides, window.before, window.after},
                         attributes(), m.engine, hint),
                     [&](const Weights::primitive_desc& one) {
                       return Arguments{{DNNL_ARG_SRC, in},
                                        {DNNL_ARG_DIFF_DST, result},
                                        {DNNL_ARG_DIFF_WEIGHTS, m.filled(one.diff_weights_desc())},
                                        {DNNL_ARG_DIFF_BIAS, bias}};
                     });
    if (!spec.input_gradient) return;
    using Data = dnnl::convolution_backward_data;
    m.offer<Data>(
        data,
        Data::primitive_desc({algorithm, x, w, y, window.strides, window.before, window.after},
                             attributes(), m.engine, hint),
        [&](const Data::primitive_desc& one) {
          return Arguments{{DNNL_ARG_DIFF_DST, result},
                           {DNNL_ARG_WEIGHTS, m.filled(one.weights_desc())},
                           {DNNL_ARG_DIFF_SRC, in}};
        });
  });
  add(passes, forward, data, by_weights);
}

void measure(Measuring& m, const InnerProductSpec& spec, FastestPasses& passes) {
  const dnnl::memory::desc x = {dims_of({spec.batch, spec.in}), m.type, Tag::ab};
  const dnnl::memory::desc y = {dims_of({spec.batch, spec.out}), m.type, Tag::ab};
  const Dims weights = dims_of({spec.out, spec.in});
  const dnnl::memory::desc w(weights, m.type, Tag::any), dw(weights, Type::f32, Tag::any);
  const dnnl::memory::desc b = spec.bias ? vector_of(spec.out) : dnnl::memory::desc();
  const dnnl::memory in = m.filled(x), result = m.filled(y);
  const dnnl::memory bias = spec.bias ? m.filled(b) : dnnl::memory();
  Best forward, data, by_weights;
  using Forward = dnnl::inner_product_forward;
  const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, x, w, b, y}, attributes(),
                                     m.engine);
  m.offer<Forward>(forward, hint, [&](const Forward::primitive_desc& one) {
    return Arguments{{DNNL_ARG_SRC, in},
                     {DNNL_ARG_WEIGHTS, m.filled(one.weights_desc())},
                     {DNNL_ARG_BIAS, bias},
                     {DNNL_ARG_DST, result}};
  });
  using Weights = dnnl::inner_product_backward_weights;
  m.offer<Weights>(by_weights, Weights::primitive_desc({x, dw, b, y}, attributes(), m.engine, hint),
                   [&](const Weights::primitive_desc& one) {
                     return Arguments{{DNNL_ARG_SRC, in},
                                      {DNNL_ARG_DIFF_DST, result},
                                      {DNNL_ARG_DIFF_WEIGHTS, m.filled(one.diff_weights_desc())},
                                      {DNNL_ARG_DIFF_BIAS, bias}};
                   });
  if (spec.input_gradient) {
    using Data = dnnl::inner_product_backward_data;
    m.offer<Data>(data, Data::primitive_desc({x, w, y}, attributes(), m.engine, hint),
                  [&](const Data::primitive_desc& one) {
                    return Arguments{{DNNL_ARG_DIFF_DST, result},
                                     {DNNL_ARG_WEIGHTS, m.filled(one.weights_desc())},
                                     {DNNL_ARG_DIFF_SRC, in}};
                  });
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
  m.each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag), y(out, m.type, tag);
    const dnnl::memory in = m.filled(x), result = m.filled(y);
    using Forward = dnnl::pooling_forward;
    const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, algorithm, x, y,
                                        window.strides, window.kernel, window.before, window.after},
                                       attributes(), m.engine);
    const auto forward_arguments = [&](const Forward::primitive_desc& one) {
      return Arguments{{DNNL_ARG_SRC, in},
                       {DNNL_ARG_DST, result},
                       {DNNL_ARG_WORKSPACE, m.room(one.workspace_desc())}};
    };
    m.offer<Forward>(forward, hint, forward_arguments);
    const Arguments read = forward_arguments(hint);
    m.run_once<Forward>(hint, read);
    using Backward = dnnl::pooling_backward;
    m.offer<Backward>(data,
                      Backward::primitive_desc({algorithm, x, y, window.strides, window.kernel,
                                                window.before, window.after},
                                               attributes(), m.engine, hint),
                      [&](const Backward::primitive_desc& /*one*/) {
                        return Arguments{{DNNL_ARG_DIFF_DST, result},
                                         {DNNL_ARG_DIFF_SRC, in},
                                         {DNNL_ARG_WORKSPACE, read.at(DNNL_ARG_WORKSPACE)}};
                      });
  });
  add(passes, forward, data, {});
}

void measure(Measuring& m, const MaxPoolSpec& spec, FastestPasses& passes) {
  measure_pool(m, spec, dnnl::algorithm::pooling_max, passes);
}

void measure(Measuring& m, const AveragePoolSpec& spec, FastestPasses& passes) {
  const auto algorithm = spec.counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                             : dnnl::algorithm::pooling_avg_exclude_padding;
  measure_pool(m, spec, algorithm, passes);
}

void measure(Measuring& m, const BatchNormSpec& spec, FastestPasses& passes) {
  using Flags = dnnl::normalization_flags;
  Flags flags = Flags::use_shift;
  if (spec.scale) flags |= Flags::use_scale;
  if (spec.relu) flags |= Flags::fuse_norm_relu;
  Arguments channels;
  for (const int channel : {DNNL_ARG_SHIFT, DNNL_ARG_SCALE, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE,
                            DNNL_ARG_DIFF_SHIFT, DNNL_ARG_DIFF_SCALE}) {
    channels[channel] = m.filled(vector_of(spec.input[1]));
  }
  Best forward, data;
  m.each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag);
    const dnnl::memory in = m.filled(x), result = m.filled(x);
    using Forward = dnnl::batch_normalization_forward;
    const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, x, spec.epsilon, flags},
                                       attributes(), m.engine);
    const auto forward_arguments = [&](const Forward::primitive_desc& one) {
      Arguments arguments = channels;
      arguments[DNNL_ARG_SRC] = in;
      arguments[DNNL_ARG_DST] = result;
      arguments[DNNL_ARG_WORKSPACE] = m.room(one.workspace_desc());
      return arguments;
    };
    m.offer<Forward>(forward, hint, forward_arguments);
    const Arguments read = forward_arguments(hint);
    m.run_once<Forward>(hint, read);
    using Backward = dnnl::batch_normalization_backward;
    m.offer<Backward>(
        data,
        Backward::primitive_desc({dnnl::prop_kind::backward, x, x, spec.epsilon, flags},
                                 attributes(), m.engine, hint),
        [&](const Backward::primitive_desc& /*one*/) {
          Arguments arguments = read;
          arguments.erase(DNNL_ARG_DST);
          arguments[DNNL_ARG_DIFF_SRC] = result;
          arguments[DNNL_ARG_DIFF_DST] = result;
          return arguments;
        });
  });
  add(passes, forward, data, {});
}

void measure(Measuring& m, const LrnSpec& spec, FastestPasses& passes) {
  const auto size = static_cast<std::int64_t>(2 * spec.radius + 1);
  const auto algorithm = dnnl::algorithm::lrn_across_channels;
  Best forward, data;
  m.each_format([&](Tag tag) {
    const dnnl::memory::desc x = m.image(spec.input, tag);
    const dnnl::memory in = m.filled(x), result = m.filled(x);
    using Forward = dnnl::lrn_forward;
    const Forward::primitive_desc hint(
        {dnnl::prop_kind::forward_training, algorithm, x, size, spec.alpha, spec.beta, spec.bias},
        attributes(), m.engine);
    const auto forward_arguments = [&](const Forward::primitive_desc& one) {
      return Arguments{{DNNL_ARG_SRC, in},
                       {DNNL_ARG_DST, result},
                       {DNNL_ARG_WORKSPACE, m.room(one.workspace_desc())}};
    };
    m.offer<Forward>(forward, hint, forward_arguments);
    const Arguments read = forward_arguments(hint);
    m.run_once<Forward>(hint, read);
    using Backward = dnnl::lrn_backward;
    m.offer<Backward>(
        data,
        Backward::primitive_desc({algorithm, x, x, size, spec.alpha, spec.beta, spec.bias},
                                 attributes(), m.engine, hint),
        [&](const Backward::primitive_desc& /*one*/) {
          return Arguments{{DNNL_ARG_SRC, in},
                           {DNNL_ARG_WORKSPACE, read.at(DNNL_ARG_WORKSPACE)},
                           {DNNL_ARG_DIFF_DST, result},
                           {DNNL_ARG_DIFF_SRC, result}};
        });
  });
  add(passes, forward, data, {});
}

/// `value`: what the forward pass read.
void offer_backward(Measuring& m, Best& data, const dnnl::eltwise_forward::primitive_desc& hint,
                    dnnl::algorithm algorithm, const dnnl::memory& value) {
  const dnnl::memory::desc x = value.get_desc();
  const dnnl::memory gradient = m.filled(x);
  using Backward = dnnl::eltwise_backward;
  m.offer<Backward>(
      data, Backward::primitive_desc({algorithm, x, x, 0.0F, 0.0F}, attributes(), m.engine, hint),
      [&](const Backward::primitive_desc& /*one*/) {
        return Arguments{
            {DNNL_ARG_SRC, value}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, gradient}};
      });
}

void measure(Measuring& m, const EltwiseSpec& spec, FastestPasses& passes) {
  const dnnl::memory::desc x = {dims_of({spec.count}), m.type, Tag::x};
  const auto algorithm = spec.function == EltwiseSpec::Function::relu
                             ? dnnl::algorithm::eltwise_relu
                             : dnnl::algorithm::eltwise_logistic;
  const dnnl::memory value = m.filled(x);
  Best forward, data;
  using Forward = dnnl::eltwise_forward;
  const Forward::primitive_desc hint({dnnl::prop_kind::forward_training, algorithm, x, 0.0F, 0.0F},
                                     attributes(), m.engine);
  m.offer<Forward>(forward, hint, [&](const Forward::primitive_desc& /*one*/) {
    return Arguments{{DNNL_ARG_SRC, value}, {DNNL_ARG_DST, value}};
  });
  offer_backward(m, data, hint, algorithm, value);
  add(passes, forward, data, {});
}

/// A sum with the relu fused to it, and the way back through the relu.
void measure(Measuring& m, const RectifiedSumSpec& spec, FastestPasses& passes) {
  constexpr auto kRelu = dnnl::algorithm::eltwise_relu;
  const dnnl::memory::desc x = {dims_of({spec.count}), m.type, Tag::x};
  const dnnl::memory value = m.filled(x), other = m.filled(x);
  dnnl::post_ops relu;
  relu.append_eltwise(1, kRelu, 0, 0);
  dnnl::primitive_attr fused = attributes();
  fused.set_post_ops(relu);
  Best forward, data;
  using Forward = dnnl::binary;
  m.offer<Forward>(
      forward, Forward::primitive_desc({dnnl::algorithm::binary_add, x, x, x}, fused, m.engine),
      [&](const Forward::primitive_desc& /*one*/) {
        return Arguments{{DNNL_ARG_SRC_0, value}, {DNNL_ARG_SRC_1, other}, {DNNL_ARG_DST, value}};
      });
  const dnnl::eltwise_forward::primitive_desc hint(
      {dnnl::prop_kind::forward_training, kRelu, x, 0.0F, 0.0F}, attributes(), m.engine);
  offer_backward(m, data, hint, kRelu, value);
  add(passes, forward, data, {});
}

void measure(Measuring& /*m*/, const RelayoutSpec& /*spec*/, FastestPasses& /*passes*/) {}

}  // namespace

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

bool is_reference(std::string_view implementation) {
  return implementation.find("ref") != std::string_view::npos;
}

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
