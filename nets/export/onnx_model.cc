#include "nets/export/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "nets/backend/describing_backend.h"
#include "nets/export/onnx_graph.h"
#include "nets/graph/graph.h"

namespace sterna::nets {
namespace {

constexpr std::int64_t kOpset = 13;
constexpr std::int64_t kIrVersion = 7;  // which came with it
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;

/// Whether all follows from the input, the logits too, by what layers say of themselves.
bool says_all(Graph& graph, const Activation& logits) {
  std::set<const Activation*> made{&graph.first()};
  for (const Node& node : graph.nodes()) {
    const auto known = [&](const Activation* one) { return made.contains(one); };
    if (!std::ranges::all_of(node.inputs, known)) return false;
    made.insert(node.output);
  }
  return made.contains(&logits);
}

/// Tensors with other values than the net's own.
struct Folded {
  std::vector<float> weights, biases;
};

class Drawing {
 public:
  Drawing(const std::string& name, Graph& graph, std::span<const std::span<const float>> values,
          Activation& logits)
      : graph_(graph), values_(values), logits_(logits), out_(name, kOpset, kIrVersion) {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      made_by_[node.output] = &node;
      for (const Activation* read : node.inputs) ++readers_[read];
    }
    ++readers_[&logits_];
  }

  onnx::ModelProto draw() {
    Activation& images = graph_.first();
    names_[&images] = "images";
    out_.add_input("images", images.shape());
    for (const Node& node : graph_.nodes()) {
      if (folds_into_convolution(node)) continue;  // drawn with it
      std::visit([&](const auto& spec) { add(spec, node); }, node.what);
    }
    if (names_.at(&logits_) != kLogits) out_.emit("Identity", {names_.at(&logits_)}, kLogits);
    out_.add_output(kLogits, logits_.shape());
    return std::move(out_.model());
  }

 private:
  static constexpr const char* kLogits = "logits";
  using Ints = OnnxGraph::Ints;

  const std::string& input(const Node& node, std::size_t index = 0) const {
    return names_.at(node.inputs[index]);
  }
  /// What the output of a node is called, for the rest to read: after its layer's parameters, where
  /// it has some.
  std::string named(const Node& node, const char* type) {
    std::string& name = names_[node.output];
    if (node.output == &logits_) return name = kLogits;
    if (node.parameters.empty()) return name = numbered(type);
    const std::string& parameter = node.parameters.front()->spec.name;
    return name = parameter.substr(0, parameter.rfind('/')) + "/" + type;
  }
  std::string numbered(const char* type) { return fmt::format("{}_{}", type, ++count_[type]); }

  std::span<const float> value(const Parameter& parameter) const {
    return values_[graph_.index_of(parameter)];
  }
  std::string keep(const Parameter& parameter) {
    return out_.keep(parameter.spec.name, parameter.spec.shape, value(parameter));
  }

  // ---- batch norm ----

  struct Norm {
    const Parameter &beta, &mean, &variance;
    const Parameter* gamma = nullptr;
  };
  static Norm norm_of(const Node& node) {
    const auto& p = node.parameters;  // beta, gamma where there is one, mean, variance
    const bool scales = std::get<BatchNormSpec>(node.what).scale;
    return {*p[0], *p[p.size() - 2], *p[p.size() - 1], scales ? p[1] : nullptr};
  }
  bool folds_into_convolution(const Node& node) const {
    if (!std::holds_alternative<BatchNormSpec>(node.what)) return false;
    const auto maker = made_by_.find(node.inputs[0]);
    return maker != made_by_.end() && readers_.at(node.inputs[0]) == 1 &&
           std::holds_alternative<ConvolutionSpec>(maker->second->what);
  }
  /// The batch norm that is drawn as a part of this convolution.
  const Node* norm_after(const Node& convolution) const {
    for (const Node& node : graph_.nodes()) {
      if (folds_into_convolution(node) && node.inputs[0] == convolution.output) return &node;
    }
    return nullptr;
  }
  /// gamma (w x + b - mean) / √(variance + ε) + beta as one window.
  Folded folded(const Node& convolution, const Node& batch_norm) const {
    const Norm norm = norm_of(batch_norm);
    const double epsilon = std::get<BatchNormSpec>(batch_norm.what).epsilon;
    const std::span<const float> weights = value(*convolution.parameters[0]);
    const bool biased = convolution.parameters.size() > 1;
    const std::size_t channels = norm.beta.spec.count();
    const std::size_t each = weights.size() / channels;
    Folded made{std::vector<float>(weights.size()), std::vector<float>(channels)};
    for (std::size_t c = 0; c < channels; ++c) {
      const double gamma = norm.gamma != nullptr ? value(*norm.gamma)[c] : 1.0;
      const double factor = gamma / std::sqrt(double{value(norm.variance)[c]} + epsilon);
      const double bias = biased ? value(*convolution.parameters[1])[c] : 0.0;
      for (std::size_t i = c * each; i < (c + 1) * each; ++i) {
        made.weights[i] = static_cast<float>(weights[i] * factor);
      }
      made.biases[c] =
          static_cast<float>((bias - value(norm.mean)[c]) * factor + value(norm.beta)[c]);
    }
    return made;
  }

  // ---- operations ----

  static void set_window(onnx::NodeProto& node, const Window& window, const Shape& in) {
    const Slide down = window.down(), across = window.across();
    const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    OnnxGraph::set(node, "kernel_shape", Ints{number(down.kernel), number(across.kernel)});
    OnnxGraph::set(node, "strides", Ints{number(down.stride), number(across.stride)});
    OnnxGraph::set(node, "pads",
                   Ints{number(down.before(in[2])), number(across.before(in[3])),
                        number(down.after(in[2])), number(across.after(in[3]))});
  }

  void add(const ConvolutionSpec& spec, const Node& node) {
    const Parameter& weights = *node.parameters[0];
    const Node* norm = norm_after(node);
    std::vector<std::string> inputs{input(node)};
    if (norm == nullptr) {
      for (const Parameter* parameter : node.parameters) inputs.push_back(keep(*parameter));
    } else {
      const Folded made = folded(node, *norm);
      const std::string& name = weights.spec.name;
      inputs.push_back(out_.keep(name, weights.spec.shape, made.weights));
      inputs.push_back(out_.keep(name.substr(0, name.rfind('/')) + "/biases", {made.biases.size()},
                                 made.biases));
    }
    const bool relu = norm != nullptr && std::get<BatchNormSpec>(norm->what).relu;
    const Node& last = norm != nullptr ? *norm : node;
    const std::string output = relu ? numbered("Conv") : named(last, "Conv");
    onnx::NodeProto& conv = out_.emit("Conv", inputs, output);
    set_window(conv, spec.window, spec.input);
    OnnxGraph::set(conv, "group", static_cast<std::int64_t>(spec.groups));
    if (relu) out_.emit("Relu", {output}, named(last, "Relu"));
  }

  void add(const BatchNormSpec& spec, const Node& node) {
    const Norm norm = norm_of(node);
    const std::vector<float> ones(norm.beta.spec.count(), 1.0F);
    const std::string scale = norm.gamma != nullptr ? keep(*norm.gamma)
                                                    : out_.keep(norm.beta.spec.name + "/of_scale_1",
                                                                norm.beta.spec.shape, ones);
    const std::string output =
        spec.relu ? numbered("BatchNormalization") : named(node, "BatchNormalization");
    onnx::NodeProto& made = out_.emit(
        "BatchNormalization",
        {input(node), scale, keep(norm.beta), keep(norm.mean), keep(norm.variance)}, output);
    OnnxGraph::set(made, "epsilon", spec.epsilon);
    if (spec.relu) out_.emit("Relu", {output}, named(node, "Relu"));
  }

  void add(const InnerProductSpec& /*spec*/, const Node& node) {
    std::string rows = input(node);
    const Tensor& x = node.inputs[0]->value();
    const Shape& shape = x.shape();
    // A unit's weights lie as activations do: row, column, channel.
    if (shape.size() == 4 && shape[2] * shape[3] > 1 && x.layout() == Layout::channels_last) {
      const std::string turned = numbered("Transpose");
      OnnxGraph::set(out_.emit("Transpose", {rows}, turned), "perm", Ints{0, 2, 3, 1});
      rows = turned;
    }
    if (shape.size() > 2) {
      const std::string flat = numbered("Flatten");
      OnnxGraph::set(out_.emit("Flatten", {rows}, flat), "axis", std::int64_t{1});
      rows = flat;
    }
    std::vector<std::string> inputs{rows};
    for (const Parameter* parameter : node.parameters) inputs.push_back(keep(*parameter));
    OnnxGraph::set(out_.emit("Gemm", inputs, named(node, "Gemm")), "transB", std::int64_t{1});
  }

  void add(const MaxPoolSpec& spec, const Node& node) {
    set_window(out_.emit("MaxPool", {input(node)}, named(node, "MaxPool")), spec.window,
               spec.input);
  }

  void add(const AveragePoolSpec& spec, const Node& node) {
    onnx::NodeProto& made = out_.emit("AveragePool", {input(node)}, named(node, "AveragePool"));
    set_window(made, spec.window, spec.input);
    OnnxGraph::set(made, "count_include_pad", std::int64_t{spec.counts_padding ? 1 : 0});
  }

  void add(const LrnSpec& spec, const Node& node) {
    onnx::NodeProto& made = out_.emit("LRN", {input(node)}, named(node, "LRN"));
    const auto size = static_cast<std::int64_t>(2 * spec.radius + 1);
    OnnxGraph::set(made, "size", size);
    OnnxGraph::set(made, "bias", spec.bias);
    OnnxGraph::set(made, "alpha",
                   spec.alpha * static_cast<float>(size));  // which it divides by the size
    OnnxGraph::set(made, "beta", spec.beta);
  }

  void add(const EltwiseSpec& spec, const Node& node) {
    const char* type = spec.function == EltwiseSpec::Function::relu ? "Relu" : "Sigmoid";
    out_.emit(type, {input(node)}, named(node, type));
  }

  /// Rows of channels first, which they are here from the start.
  void add(const RelayoutSpec& /*spec*/, const Node& node) {
    OnnxGraph::set(out_.emit("Flatten", {input(node)}, named(node, "Flatten")), "axis",
                   std::int64_t{1});
  }

  void add(const ConcatSpec& /*spec*/, const Node& node) {
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(input(node, i));
    OnnxGraph::set(out_.emit("Concat", inputs, named(node, "Concat")), "axis", std::int64_t{1});
  }

  void add(const AddSpec& /*spec*/, const Node& node) {
    out_.emit("Add", {input(node, 0), input(node, 1)}, named(node, "Add"));
  }

  void add(const RectifiedSumSpec& /*spec*/, const Node& node) {
    const std::string sum = numbered("Add");
    out_.emit("Add", {input(node, 0), input(node, 1)}, sum);
    out_.emit("Relu", {sum}, named(node, "Relu"));
  }

  void add(const CopySpec& /*spec*/, const Node& node) { names_[node.output] = input(node); }

  void add(const SubsampleSpec& spec, const Node& node) {
    const auto stride = static_cast<std::int64_t>(spec.stride);
    const std::string sliced = numbered("Slice");
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    out_.emit(
        "Slice",
        {input(node), out_.keep(sliced + "/starts", Ints{0, 0}),
         out_.keep(sliced + "/ends", Ints{kEnd, kEnd}), out_.keep(sliced + "/axes", Ints{2, 3}),
         out_.keep(sliced + "/steps", Ints{stride, stride})},
        sliced);
    const auto more = static_cast<std::int64_t>(spec.channels - node.inputs[0]->shape()[1]);
    const std::string padded = named(node, "Pad");
    out_.emit("Pad", {sliced, out_.keep(padded + "/pads", Ints{0, 0, 0, 0, 0, more, 0, 0})},
              padded);
  }

  Graph& graph_;
  std::span<const std::span<const float>> values_;
  Activation& logits_;
  OnnxGraph out_;
  std::map<const Activation*, const Node*> made_by_;
  std::map<const Activation*, std::size_t> readers_;
  std::map<const Activation*, std::string> names_;
  std::map<std::string, int> count_;
};

}  // namespace

namespace {

/// A batch norm divides by √(variance + ε), also where it is folded.
Result<void> check_variances(const Graph& graph, std::span<const std::span<const float>> values) {
  for (const Node& node : graph.nodes()) {
    const auto* norm = std::get_if<BatchNormSpec>(&node.what);
    if (norm == nullptr) continue;
    const Parameter& variance = *node.parameters.back();
    const std::span<const float> all = values[graph.index_of(variance)];
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (double{all[c]} + norm->epsilon > 0) continue;
      return Error{
          Errc::malformed,
          fmt::format("{} is {} in channel {}, and a batch norm has a root of it; train on, "
                      "or take other weights",
                      variance.spec.name, all[c], c)};
    }
  }
  return {};
}

}  // namespace

Result<std::string> onnx_model(const std::string& name,
                               const std::function<NetOutputs(Graph& graph)>& build,
                               std::span<const std::span<const float>> values,
                               const Metadata& properties) {
  const Error too_large{Errc::invalid_argument, "an ONNX file holds less than 2 GB"};
  std::uint64_t bytes = 0;
  for (const std::span<const float> tensor : values) bytes += tensor.size_bytes();
  if (bytes >= kMostBytes) return too_large;
  DescribingBackend backend;
  Graph graph(backend, {.shares_memory = true, .trains = false});
  Activation& logits = build(graph).logits;
  if (values.size() != graph.parameter_count()) {
    return Error{Errc::internal, "as many tensors as the net has are needed"};
  }
  if (!says_all(graph, logits)) {
    return Error{Errc::invalid_argument,
                 fmt::format("the layers of {} do not all say what they do", name)};
  }
  STERNA_TRY(check_variances(graph, values));
  onnx::ModelProto model = Drawing(name, graph, values, logits).draw();
  for (const auto& [key, value] : properties) {
    onnx::StringStringEntryProto& property = *model.add_metadata_props();
    property.set_key(key);
    property.set_value(value);
  }
  std::string serialized;
  if (!model.SerializeToString(&serialized)) return too_large;
  return serialized;
}

}  // namespace sterna::nets
