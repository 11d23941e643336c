#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(ConcatLayer, LaysChannelsBehindEachOther) {
  const Shape in{2, 3, 2, 4};
  // The second is twice the first, so that each channel shows whose it is.
  expect_layer(
      in, Layout::channels_last,
      [](Graph& graph, Activation& x) -> Activation& {
        Activation& wider = subsample(graph, scale(graph, x, 2), 5, 1);
        Activation& y = concat(graph, {&x, &wider});
        EXPECT_EQ(y.shape(), (Shape{2, 8, 2, 4}));
        return y;
      },
      [&](const Values& x) {
        Values twice = x;
        for (double& value : twice) value *= 2;
        return reference::concat(x, in, reference::subsample(twice, in, 5, 1), 5);
      });
}

TEST(ConcatLayer, TakesOneInputTwice) {
  const Shape in{2, 3, 2, 2};
  expect_layer(
      in, Layout::channels_last,
      [](Graph& graph, Activation& x) -> Activation& {
        return concat(graph, {&x, &x});
      },
      [&](const Values& x) { return reference::concat(x, in, x, 3); });
}

}  // namespace
}  // namespace sterna::nets
