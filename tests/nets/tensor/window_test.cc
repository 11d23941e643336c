#include "nets/tensor/window.h"

#include <gtest/gtest.h>

namespace sterna::nets {
namespace {

TEST(Window, SameKeepsTheCeilingAndPadsTheEndMore) {
  const Slide five{.kernel = 5, .stride = 1, .padding = Padding::same};
  EXPECT_EQ(five.out(28), 28U);
  EXPECT_EQ(five.before(28), 2U);
  EXPECT_EQ(five.after(28), 2U);
  const Slide halve{.kernel = 2, .stride = 2, .padding = Padding::same};
  EXPECT_EQ(halve.out(14), 7U);
  EXPECT_EQ(halve.after(14), 0U);
  EXPECT_EQ(halve.out(7), 4U);
  EXPECT_EQ(halve.before(7), 0U);
  EXPECT_EQ(halve.after(7), 1U);
  const Slide eleven{.kernel = 11, .stride = 4, .padding = Padding::same};
  EXPECT_EQ(eleven.out(224), 56U);
  EXPECT_EQ(eleven.before(224), 3U);
  EXPECT_EQ(eleven.after(224), 4U);
  const Slide sparse{.kernel = 1, .stride = 3, .padding = Padding::same};
  EXPECT_EQ(sparse.out(8), 3U);
  EXPECT_EQ(sparse.before(8) + sparse.after(8), 0U);
}

TEST(Window, ValidPadsNothing) {
  const Slide three{.kernel = 3, .stride = 2, .padding = Padding::valid};
  EXPECT_EQ(three.out(56), 27U);
  EXPECT_EQ(three.before(56), 0U);
  EXPECT_EQ(three.after(56), 0U);
}

TEST(Window, GivenPadsBothSidesAsFarAsWindowsReach) {
  const Slide halve{.kernel = 3, .stride = 2, .padding = Padding::given, .pad = 1};
  EXPECT_EQ(halve.out(7), 4U);
  EXPECT_EQ(halve.before(7), 1U);
  EXPECT_EQ(halve.after(7), 1U);
  // The last window ends before the padding does, which does not count from there on.
  EXPECT_EQ(halve.out(8), 4U);
  EXPECT_EQ(halve.before(8), 1U);
  EXPECT_EQ(halve.after(8), 0U);
  EXPECT_EQ(halve.out(1), 1U);
  const Slide seven{.kernel = 7, .stride = 2, .padding = Padding::given, .pad = 3};
  EXPECT_EQ(seven.out(224), 112U);
  EXPECT_EQ(seven.before(224), 3U);
  EXPECT_EQ(seven.after(224), 2U);
  // Windows leave out the image's last pixels.
  const Slide sparse{.kernel = 3, .stride = 4, .padding = Padding::given, .pad = 1};
  EXPECT_EQ(sparse.out(8), 2U);
  EXPECT_EQ(sparse.before(8), 1U);
  EXPECT_EQ(sparse.after(8), 0U);
  const Slide none{.kernel = 1, .stride = 2, .padding = Padding::given};
  EXPECT_EQ(none.out(4), 2U);
  EXPECT_EQ(none.before(4) + none.after(4), 0U);
}

TEST(Window, SaysWhetherItFits) {
  const Slide valid{.kernel = 3, .stride = 1, .padding = Padding::valid};
  EXPECT_FALSE(valid.fits(2));
  EXPECT_TRUE(valid.fits(3));
  const Slide given{.kernel = 3, .stride = 1, .padding = Padding::given, .pad = 1};
  EXPECT_FALSE(given.fits(0));
  EXPECT_TRUE(given.fits(1));
  const Slide same{.kernel = 3, .stride = 1, .padding = Padding::same};
  EXPECT_FALSE(same.fits(0));
  EXPECT_TRUE(same.fits(1));
}

TEST(Window, IsAsWideAsHighUnlessItSaysOtherwise) {
  const Window oblong{.kernel = 7, .stride = 2, .width = 1};
  EXPECT_EQ(oblong.down().kernel, 7U);
  EXPECT_EQ(oblong.across().kernel, 1U);
  EXPECT_EQ(oblong.across().stride, 2U);
  EXPECT_EQ(Window{.kernel = 5}.across().kernel, 5U);
}

}  // namespace
}  // namespace sterna::nets
