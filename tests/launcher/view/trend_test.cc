#include "launcher/view/trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sterna::launcher {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Le;
using testing::SizeIs;

TEST(Trend, KeepsMeansOfEquallyManyHoweverManyThereAre) {
  Trend trend;
  constexpr int kValues = 100'000;
  for (int i = 0; i < kValues; ++i) {
    trend.add(i);
    ASSERT_THAT(trend.means(), SizeIs(Le(Trend::kMost)));
  }
  const std::vector<double>& means = trend.means();
  ASSERT_GT(means.size(), Trend::kMost / 4);
  const double apart = means[1] - means[0];
  EXPECT_EQ(means[0], (apart - 1) / 2) << "the mean of the first `apart` values";
  for (std::size_t i = 1; i < means.size(); ++i) EXPECT_EQ(means[i] - means[i - 1], apart);
}

TEST(Trend, LeavesOutWhatIsNoNumber) {
  Trend trend;
  trend.add(1);
  trend.add(std::numeric_limits<double>::quiet_NaN());
  trend.add(std::numeric_limits<double>::infinity());
  trend.add(2);
  EXPECT_THAT(trend.means(), ElementsAre(1, 2));
}

TEST(Trend, LeavesOutAMeanThatIsNoNumber) {
  Trend trend;
  constexpr double kLarge = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < 4 * Trend::kMost; ++i) trend.add(kLarge);
  EXPECT_THAT(trend.means(), Each(kLarge));
}

TEST(Sparkline, OfTheLargestNumbersIsALineOrNone) {
  constexpr double kLarge = std::numeric_limits<double>::max();
  const std::vector<double> far = {-kLarge, 0, kLarge};
  EXPECT_EQ(sparkline(far, 80), "▁▅█");
  EXPECT_EQ(sparkline(std::vector<double>{kLarge, kLarge, 1, 2}, 2), "▁") << "one bar is left";
  EXPECT_EQ(sparkline(std::vector<double>{kLarge, kLarge}, 1), "");
}

TEST(Sparkline, GoesFromTheLeastToTheLargest) {
  const std::vector<double> falling = {7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(sparkline(falling, 80), "█▇▆▅▄▃▂▁");
  EXPECT_EQ(sparkline(falling, 4), "█▆▃▁");
  EXPECT_EQ(sparkline(std::vector<double>{3, 3, 3}, 80), "▁▁▁");
  EXPECT_EQ(sparkline(std::vector<double>{3}, 80), "");
  EXPECT_EQ(sparkline(falling, 0), "");
}

}  // namespace
}  // namespace sterna::launcher
