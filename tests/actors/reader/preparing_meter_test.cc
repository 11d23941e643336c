#include "actors/reader/preparing_meter.h"

#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

using std::chrono::milliseconds;

TEST(PreparingMeter, CountsTheTimeInWhichSomethingIsPrepared) {
  PreparingMeter meter;
  const Time now{1'000'000'000};
  meter.begin(now);
  meter.begin(now + milliseconds(10));
  meter.end(8, now + milliseconds(30));
  meter.end(0, now + milliseconds(40));
  meter.begin(now + milliseconds(500));  // it had nothing to do
  meter.end(8, now + milliseconds(510));
  const auto report = meter.report("reader0", 2, 3, now + milliseconds(510));
  ASSERT_TRUE(report);
  EXPECT_EQ(*report, (ReaderProgress{"reader0", 16, 0.05, 2, 3}));
}

TEST(PreparingMeter, ReportsTheFirstPicturesAndThoseThatComeLater) {
  PreparingMeter meter;
  Time now;
  meter.begin(now);
  meter.end(4, now);
  EXPECT_TRUE(meter.report("r", 1, 0, now));
  now = now + PreparingMeter::kInterval / 2;
  EXPECT_FALSE(meter.report("r", 1, 0, now));
  now = now + PreparingMeter::kInterval / 2;
  EXPECT_TRUE(meter.report("r", 1, 0, now));
  EXPECT_TRUE(meter.report("r", 1, 1, now)) << "an example that is left out is told of at once";
  EXPECT_FALSE(meter.report("r", 1, 1, now));
}

}  // namespace
}  // namespace sterna::actors
