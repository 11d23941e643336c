#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

void check_average_pool(const Shape& in, const Window& window, const Shape& out,
                        bool counts_padding = false) {
  expect_layer(
      in, Layout::channels_last,
      [&](Graph& graph, Activation& x) -> Activation& {
        Activation& y = average_pool(graph, x, window, counts_padding);
        EXPECT_EQ(y.shape(), out);
        return y;
      },
      [&](const Values& x) { return reference::average_pool(x, in, window, counts_padding); });
}

TEST(AveragePoolLayer, LeavesPaddingOut) {
  check_average_pool({2, 3, 5, 4}, {.kernel = 3}, {2, 3, 5, 4});
  check_average_pool({1, 17, 6, 7}, {.kernel = 3, .stride = 2}, {1, 17, 3, 4});
}
TEST(AveragePoolLayer, CountsPaddingAsZerosWhereThatIsWanted) {
  check_average_pool({2, 3, 5, 4}, {.kernel = 3}, {2, 3, 5, 4}, true);
  check_average_pool({1, 17, 6, 7}, {.kernel = 3, .stride = 2}, {1, 17, 3, 4}, true);
}
TEST(AveragePoolLayer, AgreesWithFiniteDifferencesWithoutPadding) {
  check_average_pool({1, 4, 8, 9}, {.kernel = 5, .stride = 3, .padding = Padding::valid},
                     {1, 4, 2, 2});
}
TEST(AveragePoolLayer, TakesTheWholeImageWhateverItsWidth) {
  check_average_pool({3, 5, 4, 3}, {.kernel = 4, .padding = Padding::valid, .width = 3},
                     {3, 5, 1, 1});
}

}  // namespace
}  // namespace sterna::nets
