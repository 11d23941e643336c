#include "nets/zoo/fixed_gradients.h"

#include <algorithm>
#include <thread>

#include "nets/backend/memory.h"
#include "nets/layers/layers.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr std::size_t kElementsPerSize = 1024;
constexpr float kGradientStddev = 1e-3F;

/// How long a layer's passes take at least.
struct Pace {
  Nanoseconds forward{};
  Nanoseconds backward{};
};

/// 65,536 numbers from a normal distribution truncated at two standard deviations, again and again:
/// drawing all of them would take longer than many an exchange.
void draw(std::span<float> gradient, ParameterSpec spec, std::size_t index) {
  constexpr std::size_t kDrawn = 65536;
  const std::span<float> drawn = gradient.first(std::min(kDrawn, gradient.size()));
  spec.stddev = kGradientStddev;
  initialize(drawn, spec, {.seed = 0, .tensor = static_cast<std::uint32_t>(index)});
  for (std::size_t i = drawn.size(); i < gradient.size(); ++i) gradient[i] = gradient[i - kDrawn];
}

/// A parameter that nothing depends on, with the same gradient in every step.
class FixedGradient final : public Layer {
 public:
  FixedGradient(Memory& memory, Parameter& parameter, std::size_t index, const Pace& pace)
      : memory_(memory), parameter_(parameter), index_(index), pace_(pace) {}
  void forward(const Pass& /*pass*/) override { pass(pace_.forward); }
  void backward(Completion& completion) override {
    pass(pace_.backward);
    completion.complete({&parameter_});
  }
  void ready() override {
    if (parameter_.gradient.data() != nullptr) {
      std::vector<float> gradient(parameter_.gradient.size());
      draw(gradient, parameter_.spec, index_);
      memory_.write(gradient, parameter_.gradient, 0);
    }
  }

 private:
  static void pass(Nanoseconds time) {
    if (time.count() > 0) std::this_thread::sleep_for(time);
  }

  Memory& memory_;
  Parameter& parameter_;
  std::size_t index_;
  Pace pace_;
};

NetOutputs build_at(const Pace& pace, Graph& graph, const ZooOptions& options) {
  const std::span<const std::uint32_t> sizes = options.hidden;
  Activation& input = images_input(graph, options);
  Activation& logits =
      dense(graph, input,
            {.name = "logits", .outputs = options.images.classes, .stddev = 0.05F, .logits = true});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t index = graph.parameter_count();
    Parameter& fixed = graph.parameter(
        ParameterSpec{.name = "fixed" + std::to_string(i), .shape = {sizes[i] * kElementsPerSize}});
    graph.add(std::make_unique<FixedGradient>(graph.backend().memory(), fixed, index, pace));
  }
  return {logits};
}

NetOutputs build(Graph& graph, const ZooOptions& options) { return build_at({}, graph, options); }

NetOutputs build_paced(Graph& graph, const ZooOptions& options) {
  const auto tensors = static_cast<std::int64_t>(std::max<std::size_t>(1, options.hidden.size()));
  return build_at({Nanoseconds(kPacedForward) / tensors, Nanoseconds(kPacedBackward) / tensors},
                  graph, options);
}

}  // namespace

extern const ZooNet kFixedGradients, kPacedFixedGradients;
const ZooNet kFixedGradients{.name = kFixedGradientsName, .build = build, .takes_hidden = true};
const ZooNet kPacedFixedGradients{
    .name = kPacedFixedGradientsName, .build = build_paced, .takes_hidden = true};

}  // namespace sterna::nets
