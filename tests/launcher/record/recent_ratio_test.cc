#include "launcher/record/recent_ratio.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(RecentRatio, KnowsNothingAtFirst) {
  const RecentRatio ratio;
  EXPECT_EQ(ratio.part(), 0);
  EXPECT_EQ(ratio.whole(), 0);
}

TEST(RecentRatio, IsOfAllThereIsUntilThatIsLong) {
  RecentRatio ratio;
  ratio.add(0.1, 1, 2);
  EXPECT_EQ(ratio.part(), 1);
  EXPECT_EQ(ratio.whole(), 2);
  ratio.add(5, 2, 10);
  EXPECT_EQ(ratio.part(), 2);
  EXPECT_EQ(ratio.whole(), 10);
}

TEST(RecentRatio, LooksNoFurtherBackThanItsSpanWhateverTheRateOfReports) {
  for (const double interval : {0.01, 0.1, 0.7, 3.0}) {
    RecentRatio ratio;
    double now = 0;
    for (; now < 50; now += interval) ratio.add(now, 0, now);
    const double before = now;
    for (; now < before + RecentRatio::kSpan + 2 * interval + 1; now += interval) {
      ratio.add(now, now - before, now);
    }
    EXPECT_EQ(ratio.part(), ratio.whole()) << interval;
    EXPECT_LE(ratio.whole(), RecentRatio::kSpan + interval + 0.5) << interval;
    EXPECT_GE(ratio.whole(), RecentRatio::kSpan - 0.5) << interval;
  }
}

TEST(RecentRatio, IsOfTheLastReportsWhereTheyAreRare) {
  RecentRatio ratio;
  for (int i = 1; i <= 5; ++i) ratio.add(60.0 * i, 30.0 * i, 60.0 * i);
  EXPECT_EQ(ratio.part(), 30);
  EXPECT_EQ(ratio.whole(), 60);
}

}  // namespace
}  // namespace sterna::launcher
