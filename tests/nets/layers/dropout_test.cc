#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

constexpr float kKeep = 0.6F;

/// Two images or more, each of more elements than one block of draws.
Shape shape(std::size_t images) { return {images, 700}; }

/// What dropout layer number `layer` makes of ones in a training pass.
Values dropped(std::size_t images, const StepDraw& draw, int layer = 0) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input(shape(images), Layout::row_major);
  Activation* y = &dropout(graph, input, kKeep);
  for (int i = 0; i < layer; ++i) y = &dropout(graph, input, kKeep);
  std::ranges::fill(input.value().values(), 1.0F);
  graph.restart({.mode = Mode::training, .draw = draw});
  EXPECT_TRUE(graph.forward(0));
  return row_major(y->value());
}

TEST(DropoutLayer, DoesNothingInEvaluation) {
  SeededRandom random(1);
  const auto engine = backend();
  for (const bool in_place : {false, true}) {
    Graph graph(*engine);
    Activation& input = graph.input(shape(2), Layout::row_major);
    Activation& x = scale(graph, input, 1);
    Activation& y = dropout(graph, x, kKeep);
    if (!in_place) scale(graph, x, 2);
    EXPECT_EQ(&y.value() == &x.value(), in_place);
    const Values values = randomize(input.value(), random);
    graph.restart({.mode = Mode::evaluation});
    ASSERT_TRUE(graph.forward(0));
    EXPECT_EQ(row_major(y.value()), values);
  }
}

TEST(DropoutLayer, DropsTheSameBackwardAndDividesTheRest) {
  SeededRandom random(2);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input(shape(3), Layout::row_major);
  Activation& x = scale(graph, input, 1);
  Activation& y = dropout(graph, x, kKeep);
  Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  const Values kept = row_major(y.value());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    values[i] = kept[i] == 0 ? 0 : values[i] / double{kKeep};
    dy[i] = kept[i] == 0 ? 0 : dy[i] / double{kKeep};
  }
  expect_near(values, kept, "y");
  expect_near(dy, row_major(x.gradient()), "dx");
}

TEST(DropoutLayer, LeavesWhatTheLayerBeforeItNeedsBackward) {
  SeededRandom random(3);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input(shape(2), Layout::row_major);
  Activation& x = scale(graph, input, 1);
  Activation& y = dropout(graph, sigmoid(graph, x), kKeep);
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  const Values kept = row_major(y.value()), s = reference::sigmoid(values);
  Values dx(dy.size());
  for (std::size_t i = 0; i < dx.size(); ++i)
    dx[i] = kept[i] == 0 ? 0 : dy[i] / double{kKeep} * s[i] * (1 - s[i]);
  expect_near(dx, row_major(x.gradient()), "dx");
}

TEST(DropoutLayer, KeepsThePartItIsTold) {
  const Values y = dropped(300, {.seed = 5, .step = 3});
  const double part =
      static_cast<double>(std::ranges::count_if(y, [](double value) { return value != 0; })) /
      static_cast<double>(y.size());
  // Six deviations of as many independent draws.
  EXPECT_NEAR(part, double{kKeep}, 6 * std::sqrt(0.24 / static_cast<double>(y.size())));
}

TEST(DropoutLayer, IsNotThereWhereAllIsKept) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& x = graph.input(shape(1), Layout::row_major);
  EXPECT_EQ(&dropout(graph, x, 1), &x);
}

TEST(DropoutLayer, DropsInMicroBatchesWhatOneWholePassDrops) {
  StepDraw draw{.seed = 5, .step = 3, .rank = 1};
  const Values whole = dropped(4, draw);
  Values halves = dropped(2, draw);
  draw.first_image = 2;
  const Values second = dropped(2, draw);
  EXPECT_NE(halves, second);
  halves.insert(halves.end(), second.begin(), second.end());
  EXPECT_EQ(halves, whole);
}

TEST(DropoutLayer, DropsOthersInAnotherStepRankLayerOrRun) {
  const StepDraw draw{.seed = 5, .step = 3, .rank = 1};
  const Values one = dropped(2, draw);
  EXPECT_EQ(dropped(2, draw), one);
  EXPECT_NE(dropped(2, {.seed = 6, .step = 3, .rank = 1}), one);
  EXPECT_NE(dropped(2, {.seed = 5, .step = 4, .rank = 1}), one);
  EXPECT_NE(dropped(2, {.seed = 5, .step = 3, .rank = 2}), one);
  EXPECT_NE(dropped(2, draw, 1), one);
}

}  // namespace
}  // namespace sterna::nets
