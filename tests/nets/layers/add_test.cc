#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(AddLayer, IsFollowedByARelu) {
  const auto rectified_thrice = [](const Values& x) {
    Values y = x;
    for (double& value : y) value = std::max(3 * value, 0.0);
    return y;
  };
  expect_layer(
      {2, 3, 2, 4}, Layout::channels_last,
      [](Graph& graph, Activation& x) -> Activation& {
        return add(graph, x, scale(graph, x, 2), {.relu = true});
      },
      rectified_thrice);
}

TEST(AddLayer, WhatIsNoNumberStaysSoBehindARelu) {
  for (const Element element : {Element::fp32, Element::bf16}) {
    const Shape in{6};
    const auto of = [&](const Values& values) {
      return tensor(in, Layout::row_major, values, element);
    };
    const double nan = std::nan(""), infinite = HUGE_VAL;
    Tensor sum = of({-1, 2, nan, infinite, -infinite, 1});
    add_and_rectify(sum, of({0.5, 1, 1, 1, 1, -1}), sum);
    const Values found = row_major(sum);
    EXPECT_TRUE(std::isnan(found[2]));
    EXPECT_EQ((Values{found[0], found[1], found[3], found[4], found[5]}),
              (Values{0, 3, infinite, 0, 0}));
  }
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
