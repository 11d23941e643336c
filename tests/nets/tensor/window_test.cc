#include "nets/tensor/window.h"

#include <gtest/gtest.h>

namespace sterna::nets {
namespace {

TEST(Window, SameKeepsTheCeilingAndPadsTheEndMore) {
  const Window five{.kernel = 5, .stride = 1, .padding = Padding::same};
  EXPECT_EQ(five.out(28), 28U);
  EXPECT_EQ(five.before(28), 2U);
  EXPECT_EQ(five.after(28), 2U);
  const Window halve{.kernel = 2, .stride = 2, .padding = Padding::same};
  EXPECT_EQ(halve.out(14), 7U);
  EXPECT_EQ(halve.after(14), 0U);
  EXPECT_EQ(halve.out(7), 4U);
  EXPECT_EQ(halve.before(7), 0U);
  EXPECT_EQ(halve.after(7), 1U);
  const Window eleven{.kernel = 11, .stride = 4, .padding = Padding::same};
  EXPECT_EQ(eleven.out(224), 56U);
  EXPECT_EQ(eleven.before(224), 3U);
  EXPECT_EQ(eleven.after(224), 4U);
  const Window sparse{.kernel = 1, .stride = 3, .padding = Padding::same};
  EXPECT_EQ(sparse.out(8), 3U);
  EXPECT_EQ(sparse.before(8) + sparse.after(8), 0U);
}

TEST(Window, ValidPadsNothing) {
  const Window three{.kernel = 3, .stride = 2, .padding = Padding::valid};
  EXPECT_EQ(three.out(56), 27U);
  EXPECT_EQ(three.before(56), 0U);
  EXPECT_EQ(three.after(56), 0U);
}

}  // namespace
}  // namespace sterna::nets
