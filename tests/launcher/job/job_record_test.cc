#include "launcher/job/job_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/text/console.h"
#include "tests/launcher/small_job_file.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

class JobRecordTest : public testing::Test {
 protected:
  RunRecord blank() {
    options.file = small_job_file();
    return blank_record(options);
  }
  RunRecord closed(const JobEnd& end) {
    RunRecord record = blank();
    record.status.actors[0].state = "dead";
    record.status.step = 3;
    close_record(record, options.file, end);
    return record;
  }
  JobOptions options;
};

TEST_F(JobRecordTest, ABlankOneHasTheFilesActorsAndSteps) {
  const RunRecord record = blank();
  EXPECT_EQ(record.status.steps, 10);
  EXPECT_EQ(record.status.step, 0);
  EXPECT_EQ(record.status.actors.size(), options.file.actors.size());
  EXPECT_THAT(record.status.actors, Each(Field(&ActorStatus::state, "starting")));
  EXPECT_EQ(record.result.job.net, "mlp");
  EXPECT_EQ(record.result.ranks, 1U);
}

TEST_F(JobRecordTest, ABlankOneSaysWhyItIsStartedAgain) {
  options.restarts = {{.step = 0, .cause = "first"}, {.step = 5, .cause = "second"}};
  const RunRecord record = blank();
  EXPECT_EQ(record.status.restarts, 2U);
  EXPECT_THAT(record.status.restart, HasSubstr("restart 2 of "));
  EXPECT_THAT(record.status.restart, HasSubstr("from step 5: second"));
  EXPECT_THAT(record.status.log_lines, ElementsAre(record.status.restart));
}

TEST_F(JobRecordTest, OfOneThatIsDoneAllAreDone) {
  const RunRecord record = closed({});
  EXPECT_EQ(record.result.exit, kExitDone);
  EXPECT_EQ(record.status.phase, "done");
  EXPECT_EQ(record.result.steps, 3);
  EXPECT_THAT(record.status.actors, Each(Field(&ActorStatus::state, "done")));
}

TEST_F(JobRecordTest, WithoutItsWeightsItHasFailed) {
  const RunRecord record = closed({.weights_left = "they are on b"});
  EXPECT_EQ(record.result.exit, kExitFailed);
  EXPECT_EQ(record.status.phase, "failed");
  EXPECT_EQ(record.result.cause, "they are on b");
  EXPECT_EQ(record.status.cause, "they are on b");
}

TEST_F(JobRecordTest, OfOneThatFailedTheDeadStayDeadAndTheOthersWereStopped) {
  const RunRecord record = closed(
      {.kind = JobEnd::Kind::kFailed, .cause = "worker0 died", .consequences = {"server0, too"}});
  EXPECT_EQ(record.result.exit, kExitFailed);
  EXPECT_EQ(record.result.cause, "worker0 died");
  EXPECT_THAT(record.result.consequences, ElementsAre("server0, too"));
  EXPECT_EQ(record.status.actors[0].state, "dead");
  EXPECT_EQ(record.status.actors[1].state, "stopped");
}

TEST_F(JobRecordTest, AnInterruptedOneHasTheStepsThatAreKept) {
  RunRecord record = blank();
  record.status.step = 3;
  record.status.checkpoint_step = 4;
  close_record(record, options.file, {.kind = JobEnd::Kind::kInterrupted, .cause = "interrupted"});
  EXPECT_EQ(record.result.exit, kExitInterrupted);
  EXPECT_EQ(record.result.steps, 4) << "no worker has said so yet";
  EXPECT_EQ(record.status.phase, "interrupted");
}

}  // namespace
}  // namespace sterna::launcher
