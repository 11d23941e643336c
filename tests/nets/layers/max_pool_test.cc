#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(MaxPoolLayer, AgreesWithTheReference) {
  SeededRandom random(1);
  const Window window{.kernel = 3, .stride = 2, .padding = Padding::valid};
  const Shape in{2, 3, 7, 5};
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input(in, Layout::channels_last);
  Activation& x = scale(graph, input, 1);
  Activation& y = max_pool(graph, x, window);
  EXPECT_THAT(y.shape(), testing::ElementsAre(2, 3, 3, 2));
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  expect_near(reference::max_pool(values, in, window), row_major(y.value()), "y");
  expect_near(reference::max_pool_backward(values, in, dy, window), row_major(x.gradient()), "dx");
}

}  // namespace
}  // namespace sterna::nets
