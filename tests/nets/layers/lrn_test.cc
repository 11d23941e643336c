#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

void check_lrn(const Shape& in, const LrnOptions& options) {
  expect_layer(
      in, Layout::channels_last,
      [&](Graph& graph, Activation& x) -> Activation& { return lrn(graph, x, options); },
      [&](const Values& x) {
        return reference::lrn(x, in, {options.radius, options.bias, options.alpha, options.beta});
      });
}

// An alpha that is as large as the sums: the original's hides what is summed.
TEST(LrnLayer, AgreesWithFiniteDifferencesWhereChannelsFillVectors) {
  check_lrn({2, 64, 2, 3}, {.radius = 4, .bias = 1, .alpha = 0.3F, .beta = 0.75F});
}
TEST(LrnLayer, AgreesWithFiniteDifferencesOverFewChannels) {
  for (const std::size_t channels : {1U, 3U, 6U, 12U})
    check_lrn({2, channels, 3, 2}, {.radius = 2, .bias = 2, .alpha = 0.5F, .beta = 0.75F});
}
TEST(LrnLayer, AgreesWithFiniteDifferencesAtAnotherPower) {
  check_lrn({1, 10, 2, 2}, {.radius = 2, .bias = 1, .alpha = 0.3F, .beta = 0.5F});
}

}  // namespace
}  // namespace sterna::nets
