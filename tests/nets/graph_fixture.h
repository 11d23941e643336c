// What the tests of graphs and layers share: layers that are simple enough to be right, and a pass.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nets/graph/graph.h"
#include "nets/tensor/elementwise.h"
#include "tests/nets/finite_differences.h"

namespace sterna::nets {

/// y = factor · x.
class Scale final : public Layer {
 public:
  Scale(float factor, Reading& x, Activation& y) : factor_(factor), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override { multiply(x_.value(), y_.value()); }
  void backward(Completion& /*completion*/) override {
    if (Tensor* dx = x_.gradient()) multiply(y_.gradient(), *dx);
  }

 private:
  void multiply(const Tensor& from, Tensor& to) const {
    std::vector<float> values(from.size());
    read(from, 0, values);
    for (float& value : values) value *= factor_;
    write(values, to, 0);
  }
  float factor_;
  Reading& x_;
  Activation& y_;
};

inline Activation& scale(Graph& graph, Activation& x, float factor) {
  Reading& read = graph.read(x);
  Activation& y = graph.output(x.shape(), x.value().layout());
  graph.add(std::make_unique<Scale>(factor, read, y));
  return y;
}

/// y = Σ x.
class Sum final : public Layer {
 public:
  Sum(std::vector<Reading*> x, Activation& y) : x_(std::move(x)), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    clear(y_.value());
    for (Reading* x : x_) add(y_.value(), x->value(), y_.value());
  }
  void backward(Completion& /*completion*/) override {
    for (Reading* x : x_) copy(y_.gradient(), *x->gradient());
  }

 private:
  std::vector<Reading*> x_;
  Activation& y_;
};

inline Activation& sum(Graph& graph, const std::vector<Activation*>& x) {
  std::vector<Reading*> read;
  read.reserve(x.size());
  for (Activation* one : x) read.push_back(&graph.read(*one));
  Activation& y = graph.output(x.front()->shape(), x.front()->value().layout());
  graph.add(std::make_unique<Sum>(std::move(read), y));
  return y;
}

struct Heard final : Completion {
  explicit Heard(const Graph& graph) : of(graph) {}
  void complete(std::span<Parameter* const> parameters) override {
    for (const Parameter* parameter : parameters) {
      if (parameter != nullptr) order.push_back(of.index_of(*parameter));
    }
  }
  const Graph& of;
  std::vector<std::size_t> order;
};

/// Once forward and back; which parameters' gradients were complete, in this order.
inline std::vector<std::size_t> pass(Graph& graph) {
  Heard heard(graph);
  graph.restart({});
  EXPECT_TRUE(graph.forward(graph.parameter_count()));
  graph.backward(heard);
  return heard.order;
}

/// Writes values in row-major order, whatever the layout.
inline void set(Tensor& to, const Values& values) {
  copy(tensor(to.shape(), to.layout(), values, to.element()), to);
}

/// Random values into a tensor; returns them, as it holds them, in row-major order.
inline Values randomize(Tensor& to, Random& random) {
  set(to, random_values(to.size(), 1, random));
  return row_major(to);
}

/// A layer without parameters, whose input of that shape wants a gradient: `f` is its definition.
template <class Build>
void expect_layer(const Shape& in, Layout layout, Build build, const Function& f,
                  Element element = Element::fp32) {
  SeededRandom random(1);
  const auto engine = backend(1, element);
  Graph graph(*engine, {.element = element});
  Activation& input = graph.input(in, layout);
  Activation& x = scale(graph, input, 1);
  Activation& y = build(graph, x);
  // What other tensors may have left there.
  set(y.value(), Values(y.value().size(), 7));
  set(x.gradient(), Values(x.value().size(), 7));
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  expect_near(f(values), row_major(y.value()), "y", tolerance(element));
  expect_near(finite_differences(f, values, dy), row_major(x.gradient()), "dx", tolerance(element));
}

}  // namespace sterna::nets
