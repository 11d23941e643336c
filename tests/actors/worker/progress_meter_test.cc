#include "actors/worker/progress_meter.h"

#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

using std::chrono::milliseconds;

/// Ranks 4 and 5, from step 3 to version 7.
class ProgressMeterTest : public testing::Test {
 protected:
  static WorkerArgs args() {
    WorkerArgs args;
    args.job.first_step = 3;
    args.job.steps = 7;
    args.job.batch = 10;
    args.first_rank = 4;
    args.ranks = 2;
    return args;
  }
  bool both(std::uint64_t step, double loss) {
    return meter.add(step, 4, loss, now) || meter.add(step, 5, loss + 2, now);
  }

  ProgressMeter meter{args()};
  Time now = Time() + std::chrono::hours(1);
};

TEST_F(ProgressMeterTest, AStepIsDoneWhenAllRanksAre) {
  meter.begin(now);
  now = now + milliseconds(20);
  EXPECT_FALSE(meter.add(3, 4, 1, now));
  EXPECT_FALSE(meter.add(4, 4, 1, now));  // a rank may be ahead
  EXPECT_TRUE(meter.add(3, 5, 2, now));
  const Progress progress = meter.progress("w", {.gradient_bytes = 9}, now);
  EXPECT_EQ(progress.worker, "w");
  EXPECT_EQ(progress.step, 4U);
  EXPECT_EQ(progress.loss, 1.5);
  EXPECT_EQ(progress.examples, 20U);
  EXPECT_EQ(progress.seconds, 0.02);
  EXPECT_EQ(progress.traffic.gradient_bytes, 9U);
}

TEST_F(ProgressMeterTest, ReportsTheFirstStepTheLastAndThoseThatTakeLong) {
  meter.begin(now);
  EXPECT_TRUE(both(3, 0));
  now = now + ProgressMeter::kInterval / 2;
  EXPECT_FALSE(both(4, 0));
  now = now + ProgressMeter::kInterval / 2;
  EXPECT_TRUE(both(5, 0));
  EXPECT_FALSE(meter.complete());
  EXPECT_TRUE(both(6, 0));
  EXPECT_TRUE(meter.complete());
}

TEST_F(ProgressMeterTest, WaitingForDataIsTheMeanOfItsRanksFromTheFirstStepOn) {
  meter.waited_for_data(now, now + milliseconds(500));  // nothing has begun
  meter.begin(now);
  const Time ready = now;
  now = now + milliseconds(30);
  meter.waited_for_data(ready, now);
  meter.waited_for_data(now + milliseconds(1), now);  // its parameters came later
  both(3, 0);
  EXPECT_EQ(meter.progress("w", {}, now).data_seconds, 0.015);
}

TEST_F(ProgressMeterTest, TheMedianIsOfTheTimesBetweenStepsDone) {
  meter.begin(now);
  std::uint64_t step = 3;
  for (const int taken : {5, 30, 10, 20}) {
    now = now + milliseconds(taken);
    meter.begin(now);  // each step's forward pass says so
    both(step++, taken);
  }
  const WorkerDone done = meter.done("w", {}, {}, now);
  EXPECT_EQ(done.steps, 7U);
  EXPECT_EQ(done.loss, 21);
  EXPECT_EQ(done.seconds, 0.065);
  EXPECT_EQ(done.median_step_seconds, 0.02);
}

}  // namespace
}  // namespace sterna::actors
