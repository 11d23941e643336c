// What a run with losses comes to.
#include "launcher/run/restarts.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

class RestartsTest : public testing::Test {
 protected:
  RestartsTest() {
    job.file.job.steps = 100;
    job.file.checkpoint.every_steps = 10;
    job.file.checkpoint.restarts = 2;
    job.checkpoints = testing::TempDir() + "/no_such_folder";
  }

  static JobOutcome lost(const char* cause) {
    JobOutcome outcome;
    outcome.lost = true;
    outcome.record.result.lost_losses = 3;
    outcome.record.status.step = 7;
    outcome.record.result.cause = cause;
    outcome.record.result.exit = 1;
    outcome.record.result.missed_checkpoints = 2;
    outcome.record.first_step_began = Time() + std::chrono::seconds(10);
    outcome.ended = Time() + std::chrono::seconds(13);
    return outcome;
  }

  JobOptions job;
  Restarts restarts;
};

TEST_F(RestartsTest, WhatWentBeforeIsPartOfTheResult) {
  JobOutcome first = lost("worker0 was killed");
  first.record.result.first_step = 5;
  EXPECT_TRUE(restarts.after(first, job));
  ASSERT_EQ(job.restarts.size(), 1U);
  EXPECT_EQ(job.restarts[0].cause, "worker0 was killed");
  EXPECT_EQ(job.restarts[0].steps_again, 7);

  JobOutcome last;
  last.record.result.seconds = 5;
  last.record.result.first_step = 6;
  last.record.result.missed_checkpoints = 1;
  EXPECT_FALSE(restarts.after(last, job));
  restarts.complete(last);
  EXPECT_EQ(last.record.result.missed_checkpoints, 3U);
  EXPECT_EQ(last.record.result.seconds, 8);
  EXPECT_EQ(last.record.result.first_step, 5) << "where the first attempt began";
  EXPECT_EQ(last.record.result.restarts.size(), 1U);
  EXPECT_EQ(last.record.result.lost_losses, 3U);
}

TEST_F(RestartsTest, TheStatusGoesOnCounting) {
  JobOutcome first = lost("worker0 was killed");
  first.record.result.actor_restarts.resize(2);
  first.record.result.relinked = 3;
  EXPECT_TRUE(restarts.after(first, job));
  JobOutcome second;
  second.record.status.elapsed_seconds = 4;
  second.record.status.actor_restarts = 1;
  second.record.status.left_seconds = 9;
  const RunStatus shown = restarts.whole(second.record.status);
  EXPECT_EQ(shown.elapsed_seconds, 7);
  EXPECT_EQ(shown.actor_restarts, 3U);
  EXPECT_EQ(shown.relinked, 3U);
  EXPECT_EQ(shown.left_seconds, 9);
  restarts.complete(second);
  EXPECT_EQ(second.record.status.actor_restarts, 3U);
}

TEST_F(RestartsTest, CountWhatWasLateAndEvaluationsThatNobodyMakesAnyMore) {
  job.file.evaluation.every = 10;
  const auto from = std::make_shared<actors::SavedCheckpoint>();
  from->manifest.step = 50;
  job.from = from;
  JobOutcome first = lost("server0 was killed");
  first.record.result.first_step = 5;
  first.record.result.late_packets = 4;
  first.record.result.skipped_evaluations = 3;  // 20, 30 and 60, which is done again
  for (const std::int64_t step : {10, 40, 70}) {
    first.record.result.evaluations.push_back({.step = step});
  }
  EXPECT_TRUE(restarts.after(first, job));
  JobOutcome last;
  last.record.status.skipped_evaluations = last.record.result.skipped_evaluations = 1;
  last.record.status.late_packets = last.record.result.late_packets = 2;
  EXPECT_EQ(restarts.whole(last.record.status).skipped_evaluations, 4U) << "20, 30 and 50";
  restarts.complete(last);
  EXPECT_EQ(last.record.result.skipped_evaluations, 4U);
  EXPECT_EQ(last.record.result.late_packets, 6U);
  EXPECT_EQ(last.record.status.late_packets, 6U);
}

TEST_F(RestartsTest, CountAnEvaluationThatIsLeftBehindTwiceOnce) {
  job.file.evaluation.every = 10;
  const auto from = [&](std::uint64_t step) {
    const auto checkpoint = std::make_shared<actors::SavedCheckpoint>();
    checkpoint->manifest.step = step;
    job.from = checkpoint;
  };
  from(50);
  EXPECT_TRUE(restarts.after(lost("server0 was killed"), job));
  EXPECT_EQ(restarts.whole({}).skipped_evaluations, 5U);
  from(20);  // the one of step 50 was damaged
  JobOutcome again = lost("server0 was killed");
  again.record.result.first_step = 50;
  EXPECT_TRUE(restarts.after(again, job));
  EXPECT_EQ(restarts.whole({}).skipped_evaluations, 2U) << "30, 40 and 50 are due again";
}

TEST_F(RestartsTest, CountSkippedEvaluationsWhoseStepsNobodyKnows) {
  job.file.evaluation.every_seconds = 5;
  JobOutcome first = lost("server0 was killed");
  first.record.result.skipped_evaluations = 3;
  EXPECT_TRUE(restarts.after(first, job));
  EXPECT_EQ(restarts.whole({}).skipped_evaluations, 3U);
}

TEST_F(RestartsTest, EndWithTheFirstCauseAndTheLast) {
  EXPECT_TRUE(restarts.after(lost("one"), job));
  EXPECT_TRUE(restarts.after(lost("two"), job));
  JobOutcome third = lost("three");
  EXPECT_FALSE(restarts.after(third, job));
  restarts.complete(third);
  EXPECT_EQ(third.record.result.cause,
            "three (after 2 restarts from checkpoints; first lost: one)");
}

TEST_F(RestartsTest, AreNotForWhatSomebodyEndsNorWithoutCheckpoints) {
  JobOutcome outcome = lost("Ctrl-C");
  outcome.interrupted = true;
  EXPECT_FALSE(restarts.after(outcome, job));
  job.file.checkpoint.every_steps = 0;
  EXPECT_FALSE(restarts.after(lost("one"), job));
}

}  // namespace
}  // namespace sterna::launcher
