#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

constexpr Window kThree{.kernel = 3, .stride = 2, .padding = Padding::same};

TEST(ConvolutionLayer, AddsItsParametersAndAgreesWithTheReference) {
  SeededRandom random(1);
  const auto engine = backend();
  Graph graph(*engine);
  const Shape in{2, 3, 5, 6};
  Activation& input = graph.input(in, Layout::channels_last);
  Activation& x = scale(graph, input, 1);
  Activation& y = convolution(
      graph, x, {.name = "c", .outputs = 4, .stddev = 0.5F, .bias = 0.1F, .decay = true}, kThree);
  EXPECT_THAT(y.shape(), ElementsAre(2, 4, 3, 3));
  const ParameterSpec& weights = graph.parameter(0).spec;
  const ParameterSpec& biases = graph.parameter(1).spec;
  EXPECT_EQ(weights.name, "c/weights");
  EXPECT_THAT(weights.shape, ElementsAre(4, 3, 3, 3));
  EXPECT_EQ(weights.stddev, 0.5F);
  EXPECT_TRUE(weights.decay);
  EXPECT_EQ(biases.name, "c/biases");
  EXPECT_EQ(biases.role, Role::bias);
  EXPECT_EQ(biases.constant, 0.1F);
  EXPECT_FALSE(biases.decay);

  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  const Values w = randomize(graph.parameter(0).value, random);
  const Values b = randomize(graph.parameter(1).value, random);
  EXPECT_THAT(pass(graph), ElementsAre(0, 1));
  expect_near(reference::convolution(values, in, w, b, 4, kThree), row_major(y.value()), "y");
  const auto d = reference::convolution_backward(values, in, w, dy, 4, kThree);
  expect_near(d.x, row_major(x.gradient()), "dx");
  expect_near(d.w, row_major(graph.parameter(0).gradient), "dw");
  expect_near(d.b, row_major(graph.parameter(1).gradient), "db");
}

TEST(ConvolutionLayer, SplitsChannelsIntoGroupsAndDoesWithoutBiases) {
  SeededRandom random(3);
  const auto engine = backend();
  Graph graph(*engine);
  const Shape in{2, 6, 5, 4};
  Activation& input = graph.input(in, Layout::channels_last);
  Activation& x = scale(graph, input, 1);
  Activation& y =
      convolution(graph, x, {.name = "c", .outputs = 4, .biases = false, .decay = false}, kThree,
                  /*groups=*/2);
  ASSERT_EQ(graph.parameter_count(), 1U);
  EXPECT_THAT(graph.parameter(0).spec.shape, ElementsAre(4, 3, 3, 3));
  EXPECT_FALSE(graph.parameter(0).spec.decay);
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  const Values w = randomize(graph.parameter(0).value, random);
  EXPECT_THAT(pass(graph), ElementsAre(0));
  expect_near(reference::convolution(values, in, w, {}, 4, kThree, 2), row_major(y.value()), "y");
  const auto d = reference::convolution_backward(values, in, w, dy, 4, kThree, 2);
  expect_near(d.x, row_major(x.gradient()), "dx");
  expect_near(d.w, row_major(graph.parameter(0).gradient), "dw");
}

TEST(ConvolutionLayer, ReadsWeightsThatChanged) {
  SeededRandom random(2);
  const auto engine = backend();
  Graph graph(*engine);
  const Shape in{1, 2, 4, 4};
  Activation& input = graph.input(in, Layout::channels_last);
  Activation& y = convolution(graph, input, {.name = "c", .outputs = 3}, kThree);
  const Values x = randomize(input.value(), random);
  for (int time = 0; time < 2; ++time) {
    const Values w = randomize(graph.parameter(0).value, random);
    graph.parameter_changed(0);
    pass(graph);
    expect_near(reference::convolution(x, in, w, Values(3), 3, kThree), row_major(y.value()), "y");
  }
}

}  // namespace
}  // namespace sterna::nets
