// toy_ab: the problem that every scheme of the guide to distributed training is shown on.
// Parameters a and b of R², both 0 at the start, c = a + b, and the loss mean((c - 100)²), so that
// its gradient by either is c - 100. What comes of it after n steps can be written down, whatever
// the pictures, which it does not look at: any will do, of two classes, since its "logits" are c.
#include <algorithm>

#include "nets/backend/memory.h"
#include "nets/layers/layers.h"
#include "nets/tensor/elementwise.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kDimensions = 2;
constexpr float kTarget = 100;

/// y = a + b, for each picture the same.
class Sum final : public Layer {
 public:
  Sum(Parameter& a, Parameter& b, Activation& y)
      : a_(a), b_(b), y_(y), row_major_(y.value().size()) {}

  void forward(const Pass& /*pass*/) override {
    const std::span<const float> a = a_.value.values(), b = b_.value.values();
    for (std::size_t i = 0; i < row_major_.size(); ++i)
      row_major_[i] = a[i % kDimensions] + b[i % kDimensions];
    write(row_major_, y_.value(), 0);
  }

  /// The last parameter's first, as nets hand out their gradients.
  void backward(Completion& completion) override {
    read(y_.gradient(), 0, row_major_);
    for (Parameter* parameter : {&b_, &a_}) {
      const std::span<float> gradient = parameter->gradient.values();
      std::ranges::fill(gradient, 0.0F);
      for (std::size_t i = 0; i < row_major_.size(); ++i)
        gradient[i % kDimensions] += row_major_[i];
    }
    completion.complete({&b_, &a_});
  }

 private:
  Parameter& a_;
  Parameter& b_;
  Activation& y_;
  std::vector<float> row_major_;  // y or its gradient
};

/// The same bits, where the host cannot look.
class SumElsewhere final : public Layer {
 public:
  SumElsewhere(Memory& memory, Parameter& a, Parameter& b, Activation& y)
      : memory_(memory), a_(a), b_(b), y_(y), row_(Tensor::unbound({kDimensions})) {}

  void ready() override { row_.bind(memory_.allocate(row_.bytes())); }
  void forward(const Pass& /*pass*/) override {
    memory_.add(a_.value, b_.value, row_);
    kernels::Runs to_each{.images = rows(), .length = kDimensions, .from = {}, .to = {}};
    to_each.to.image = kDimensions;
    memory_.copy(row_, to_each, y_.value());
  }
  void backward(Completion& completion) override {
    memory_.clear(b_.gradient, 0);
    kernels::Runs one{.length = kDimensions, .from = {}, .to = {}};
    for (std::size_t row = 0; row < rows(); ++row) {
      one.from.first = row * kDimensions;
      memory_.copy(y_.gradient(), one, row_);
      memory_.add(b_.gradient, row_, b_.gradient);
    }
    memory_.copy(b_.gradient, a_.gradient);
    completion.complete({&b_, &a_});
  }

 private:
  std::size_t rows() { return y_.shape()[0]; }

  Memory& memory_;
  Parameter& a_;
  Parameter& b_;
  Activation& y_;
  Tensor row_;
};

NetOutputs build(Graph& graph, const ZooOptions& options) {
  images_input(graph, options);
  Parameter& a = graph.parameter(ParameterSpec{.name = "a", .shape = {kDimensions}});
  Parameter& b = graph.parameter(ParameterSpec{.name = "b", .shape = {kDimensions}});
  Activation& y = graph.output({options.batch, kDimensions}, Layout::row_major);
  Memory& memory = graph.backend().memory();
  if (memory.on_host()) {
    graph.add(std::make_unique<Sum>(a, b, y));
  } else {
    graph.add(std::make_unique<SumElsewhere>(memory, a, b, y));
  }
  return {.logits = y, .target = kTarget};
}

}  // namespace

extern const ZooNet kToyAb;
const ZooNet kToyAb{
    .name = "toy_ab", .build = build, .usual = {1, 1, 1, kDimensions}, .classes = kDimensions};

}  // namespace sterna::nets
