#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(ReluLayer, IsInPlaceAndAgreesWithTheReference) {
  SeededRandom random(1);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({2, 21}, Layout::row_major);
  Activation& x = scale(graph, input, 1);
  Activation& y = relu(graph, x);
  EXPECT_EQ(&y.value(), &x.value());
  EXPECT_EQ(&y.gradient(), &x.gradient());
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  expect_near(reference::relu(values), row_major(y.value()), "y");
  expect_near(reference::relu_backward(values, dy), row_major(x.gradient()), "dx");
}

TEST(ReluLayer, LeavesWhatOtherLayersRead) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& before = scale(graph, graph.input({1, 3}, Layout::row_major), 1);
  scale(graph, before, 2);
  EXPECT_NE(&relu(graph, before).value(), &before.value());

  Activation& after = scale(graph, graph.first(), 1);
  Activation& y = relu(graph, after);
  scale(graph, after, 2);
  EXPECT_NE(&y.value(), &after.value());
  EXPECT_EQ(y.shape(), after.shape());
}

TEST(SigmoidLayer, IsInPlaceAndAgreesWithFiniteDifferences) {
  expect_layer(
      {2, 21}, Layout::row_major,
      [](Graph& graph, Activation& x) -> Activation& {
        Activation& y = sigmoid(graph, x);
        EXPECT_EQ(&y.value(), &x.value());
        return y;
      },
      reference::sigmoid);
}

TEST(SigmoidLayer, LeavesWhatOtherLayersRead) {
  // x + sigmoid(x)
  expect_layer(
      {2, 21}, Layout::row_major,
      [](Graph& graph, Activation& x) -> Activation& { return add(graph, sigmoid(graph, x), x); },
      [](const Values& x) {
        Values y = reference::sigmoid(x);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
        return y;
      });
}

}  // namespace
}  // namespace sterna::nets
