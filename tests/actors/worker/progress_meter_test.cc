#include "actors/worker/progress_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

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
  static nets::Net::Loss of(float loss) {
    return {.cross_entropy = loss - 0.25F, .regularization = 0.25F};
  }
  bool both(std::uint64_t step, float loss) {
    return meter.add(step, 4, of(loss), now) || meter.add(step, 5, of(loss + 2), now);
  }

  ProgressMeter meter{args()};
  Time now = Time() + std::chrono::hours(1);
};

TEST_F(ProgressMeterTest, AStepIsDoneWhenAllRanksAre) {
  meter.begin(now);
  now = now + milliseconds(20);
  EXPECT_FALSE(meter.add(3, 4, of(1), now));
  EXPECT_FALSE(meter.add(4, 4, of(1), now));  // a rank may be ahead
  EXPECT_TRUE(meter.add(3, 5, of(2), now));
  const Progress progress = meter.progress("w", {.gradient_bytes = 9}, now);
  EXPECT_EQ(progress.worker, "w");
  EXPECT_EQ(progress.step, 4U);
  EXPECT_EQ(progress.loss, 1.5);
  EXPECT_EQ(progress.decay_loss, 0.25);
  EXPECT_EQ(progress.examples, 20U);
  EXPECT_EQ(progress.seconds, 0.02);
  EXPECT_EQ(progress.traffic.gradient_bytes, 9U);
}

TEST_F(ProgressMeterTest, AReportHasEveryLossSinceTheOneBefore) {
  both(3, 1);
  both(4, 2);
  const auto loss = [](std::uint64_t step, std::uint32_t rank, double loss) {
    return RankLoss{.step = step, .rank = rank, .loss = loss, .decay_loss = 0.25};
  };
  EXPECT_THAT(meter.progress("w", {}, now).losses,
              ElementsAre(loss(3, 4, 1), loss(3, 5, 3), loss(4, 4, 2), loss(4, 5, 4)));
  EXPECT_FALSE(meter.has_news());
  both(5, 3);
  EXPECT_TRUE(meter.has_news());
  EXPECT_THAT(meter.progress("w", {}, now).losses, ElementsAre(loss(5, 4, 3), loss(5, 5, 5)));
}

TEST_F(ProgressMeterTest, OfMoreLossesThanAReportHoldsTheOldestAreLostAndCounted) {
  for (std::uint64_t step = 0; step < Progress::kMostLosses; ++step) {
    meter.add_apart(4, of(1), step, now);
  }
  meter.add_apart(5, of(1), 9, now);
  const Progress progress = meter.progress("w", {}, now);
  ASSERT_EQ(progress.losses.size(), Progress::kMostLosses);
  EXPECT_EQ(progress.losses.front().step, 1U);
  EXPECT_EQ(progress.losses.back().rank, 5U);
  EXPECT_EQ(progress.lost_losses, 1U);
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
  EXPECT_EQ(meter.done("w", {}, {}, now).seconds, 0) << "not what the clock shows";
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
    both(step++, static_cast<float>(taken));
  }
  const WorkerDone done = meter.done("w", {}, {}, now);
  EXPECT_EQ(done.steps, 7U);
  EXPECT_EQ(done.loss, 21);
  EXPECT_EQ(done.seconds, 0.065);
  EXPECT_EQ(done.median_step_seconds, 0.02);
}

}  // namespace
}  // namespace sterna::actors
