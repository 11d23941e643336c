#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

TEST(DenseLayer, ReadsWhateverFollowsTheBatchAndAgreesWithTheReference) {
  SeededRandom random(1);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({3, 1, 2, 4}, Layout::row_major);
  Activation& x = scale(graph, input, 1);
  Activation& y = dense(graph, x, {.name = "d", .outputs = 5});
  EXPECT_THAT(y.shape(), ElementsAre(3, 5));
  EXPECT_THAT(graph.parameter(0).spec.shape, ElementsAre(5, 8));
  EXPECT_THAT(graph.parameter(1).spec.shape, ElementsAre(5));

  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  const Values w = randomize(graph.parameter(0).value, random);
  const Values b = randomize(graph.parameter(1).value, random);
  EXPECT_THAT(pass(graph), ElementsAre(0, 1));
  expect_near(reference::inner_product(values, 3, w, b), row_major(y.value()), "y");
  const auto d = reference::inner_product_backward(values, 3, w, dy);
  expect_near(d.x, row_major(x.gradient()), "dx");
  expect_near(d.w, row_major(graph.parameter(0).gradient), "dw");
  expect_near(d.b, row_major(graph.parameter(1).gradient), "db");
}

TEST(DenseLayer, DoesWithoutBiases) {
  SeededRandom random(2);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({3, 4}, Layout::row_major);
  Activation& x = scale(graph, input, 1);
  Activation& y = dense(graph, x, {.name = "d", .outputs = 5, .biases = false});
  ASSERT_EQ(graph.parameter_count(), 1U);
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  const Values w = randomize(graph.parameter(0).value, random);
  EXPECT_THAT(pass(graph), ElementsAre(0));
  expect_near(reference::inner_product(values, 3, w, {}), row_major(y.value()), "y");
  const auto d = reference::inner_product_backward(values, 3, w, dy);
  expect_near(d.x, row_major(x.gradient()), "dx");
  expect_near(d.w, row_major(graph.parameter(0).gradient), "dw");
}

TEST(DenseLayer, MarksTheLogits) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& x = graph.input({1, 4}, Layout::row_major);
  dense(graph, dense(graph, x, {.name = "a", .outputs = 3}),
        {.name = "b", .outputs = 2, .logits = true});
  std::vector<bool> marks;
  for (std::size_t i = 0; i < 4; ++i) marks.push_back(graph.parameter(i).spec.logits);
  EXPECT_THAT(marks, ElementsAre(false, false, true, true));
}

}  // namespace
}  // namespace sterna::nets
