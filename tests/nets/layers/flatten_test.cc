#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(FlattenLayer, PutsChannelsFirst) {
  SeededRandom random(1);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({2, 5, 3, 4}, Layout::channels_last);
  Activation& x = scale(graph, input, 1);
  Activation& y = flatten(graph, x);
  EXPECT_EQ(y.shape(), (Shape{2, 60}));
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  EXPECT_EQ(row_major(y.value()), values);
  EXPECT_EQ(row_major(x.gradient()), dy);
}

}  // namespace
}  // namespace sterna::nets
