#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(AddLayer, AddsAndHandsItsGradientToBoth) {
  const auto thrice = [](const Values& x) {
    Values y = x;
    for (double& value : y) value *= 3;
    return y;
  };
  expect_layer(
      {2, 3, 2, 4}, Layout::channels_last,
      [](Graph& graph, Activation& x) -> Activation& { return add(graph, x, scale(graph, x, 2)); },
      thrice);
  expect_layer(
      {2, 3, 2, 4}, Layout::channels_last,
      [](Graph& graph, Activation& x) -> Activation& {
        Activation& twice = scale(graph, x, 2);
        return add(graph, twice, x);
      },
      thrice);
}

TEST(AddLayer, TakesOneInputTwice) {
  expect_layer(
      {1, 7}, Layout::row_major,
      [](Graph& graph, Activation& x) -> Activation& { return add(graph, x, x); },
      [](const Values& x) {
        Values y = x;
        for (double& value : y) value *= 2;
        return y;
      });
}

}  // namespace
}  // namespace sterna::nets
