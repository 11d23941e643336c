#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

void check_subsample(const Shape& in, std::size_t channels, std::size_t stride) {
  expect_layer(
      in, Layout::channels_last,
      [&](Graph& graph, Activation& x) -> Activation& {
        return subsample(graph, x, channels, stride);
      },
      [&](const Values& x) { return reference::subsample(x, in, channels, stride); });
}

TEST(SubsampleLayer, TakesEverySecondPixelAndAddsChannelsOfZeros) {
  check_subsample({2, 3, 4, 6}, 6, 2);
}
TEST(SubsampleLayer, TakesTheLastPixelOfOddExtents) { check_subsample({2, 3, 5, 7}, 4, 2); }
TEST(SubsampleLayer, OnlyAddsChannelsWhereTheStrideIsOne) { check_subsample({1, 2, 3, 2}, 5, 1); }

}  // namespace
}  // namespace sterna::nets
