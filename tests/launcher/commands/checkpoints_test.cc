// sterna checkpoints: what its exit code says. What it lists of a run: run_checkpoint_test.
#include <filesystem>

#include "actors/checkpoint/keeper.h"
#include "tests/launcher/commands/command_fixture.h"
#include "tests/launcher/kept_checkpoint.h"

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

using CheckpointsCommand = CommandTest;

TEST_F(CheckpointsCommand, FailsWhereAllAreDamaged) {
  const std::string run = folder.path();
  const std::string in = run + "/checkpoints";
  EXPECT_EQ(sterna({"checkpoints", (run + "/none").c_str()}).exit, 2);
  std::filesystem::create_directories(in + "/step-000000010");
  const Said unfinished = sterna({"checkpoints", run.c_str()});
  EXPECT_EQ(unfinished.exit, 0) << "it may be made at this moment";
  EXPECT_THAT(unfinished.out, HasSubstr("step          10"));

  write("checkpoints/step-000000010/manifest.json", "{}");
  const Said damaged = sterna({"checkpoints", run.c_str()});
  EXPECT_EQ(damaged.exit, 1);
  EXPECT_THAT(damaged.err, EndsWith("checkpoints: no checkpoint here is whole\n"));
  EXPECT_EQ(sterna({"checkpoints", run.c_str(), "--json"}).exit, 1);

  keep_checkpoint(run, 20);
  EXPECT_EQ(sterna({"checkpoints", run.c_str()}).exit, 0) << "one is whole";
}

TEST_F(CheckpointsCommand, SaysOfHowManyExamplesAPrecisionIs) {
  const std::string run = folder.path();
  keep_checkpoint(run, 20);
  EXPECT_THAT(sterna({"checkpoints", run.c_str()}).out, HasSubstr("precision@1 -  "));
  ASSERT_TRUE(actors::note_precision(run + "/checkpoints", 20, {0.956, 2000}).ok());
  EXPECT_THAT(sterna({"checkpoints", run.c_str()}).out, HasSubstr("precision@1 0.9560 of 2,000  "));
  EXPECT_THAT(sterna({"checkpoints", run.c_str(), "--json"}).out,
              HasSubstr("\"precision_examples\":2000"));
}

TEST_F(CheckpointsCommand, SaysWhoseEachIsWhereSeveralRunsShareAFolder) {
  const std::string run = folder.path();
  keep_checkpoint(run, 20, "mine@2.500000");
  EXPECT_THAT(sterna({"checkpoints", run.c_str()}).out, EndsWith("whole\n"));
  keep_checkpoint(run, 30, "other@1.000000");
  EXPECT_THAT(
      sterna({"checkpoints", run.c_str()}).out,
      testing::ContainsRegex("whole, of mine@2.500000\nstep +30 .*whole, of other@1.000000\n"));
  EXPECT_THAT(sterna({"checkpoints", run.c_str(), "--json"}).out,
              HasSubstr("\"run\":\"other@1.000000\""));
}

TEST_F(CheckpointsCommand, NamesTheBestWhichOtherCommandsTake) {
  const std::string run = folder.path();
  keep_checkpoint(run, 20);
  keep_checkpoint(run, 30);
  const auto export_best = [&] {
    return sterna({"export", run.c_str(), "--best", "--to", "npz"}).err;
  };
  EXPECT_THAT(export_best(), HasSubstr("no checkpoint here was evaluated, so that none is the "
                                       "best"));
  ASSERT_TRUE(actors::note_precision(run + "/checkpoints", 20, {0.956, 2000}).ok());
  ASSERT_TRUE(actors::note_precision(run + "/checkpoints", 30, {0.955, 2000}).ok());
  EXPECT_THAT(sterna({"checkpoints", run.c_str()}).out,
              testing::ContainsRegex("step +20 .*whole, the best\nstep +30 .*whole\n"));
  write("checkpoints/step-000000020/server0.safetensors", "87654321");
  EXPECT_THAT(export_best(), HasSubstr("step-000000020/server0.safetensors: its bytes are not "
                                       "those that were written"));
  EXPECT_THAT(
      sterna({"export", (run + "/checkpoints/step-000000020").c_str(), "--best", "--to", "npz"})
          .err,
      HasSubstr("there is no checkpoint to choose the best of"));
}

}  // namespace
}  // namespace sterna::launcher
