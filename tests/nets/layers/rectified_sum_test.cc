#include <gtest/gtest.h>

#include <algorithm>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(RectifiedSumLayer, AddsRectifiesAndHandsItsGradientToBoth) {
  const auto rectified_thrice = [](const Values& x) {
    Values y = x;
    for (double& value : y) value = std::max(3 * value, 0.0);
    return y;
  };
  expect_layer(
      {2, 3, 2, 4}, Layout::channels_last,
      [](Graph& graph, Activation& x) -> Activation& {
        return rectified_sum(graph, x, scale(graph, x, 2));
      },
      rectified_thrice);
}

TEST(RectifiedSumLayer, AddsWhatItsFirstReaderGives) {
  expect_layer(
      {1, 9}, Layout::row_major,
      [](Graph& graph, Activation& x) -> Activation& {
        Activation& y = rectified_sum(graph, x, x);
        return add(graph, scale(graph, y, 2), y);
      },
      [](const Values& x) {
        Values y = x;
        for (double& value : y) value = std::max(6 * value, 0.0);
        return y;
      });
}

}  // namespace
}  // namespace sterna::nets
