// Which ends of a run give exit code 75, and what its last line is.
#include "launcher/run/run_ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "actors/checkpoint/state_part.h"
#include "launcher/job/resume.h"
#include "launcher/record/run_directory.h"
#include "launcher/run/restarts.h"
#include "launcher/view/result_json.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class RunEndingTest : public testing::Test {
 protected:
  RunEndingTest() {
    job.file.job.steps = 100;
    job.file.job.net = "lenet";
    job.file.checkpoint.every_steps = 10;
    job.checkpoints = folder.path() + "/checkpoints";
    options.file = job.file;
  }

  void keep_checkpoint(std::uint64_t step, const std::string& net = "lenet",
                       const std::string& run = "") const {
    const std::string path = job.checkpoints + "/" + actors::checkpoint_name(step);
    std::filesystem::create_directories(path);
    actors::Manifest manifest;
    manifest.run = run;
    manifest.net = net;
    manifest.step = step;
    manifest.ranks = 1;
    std::ofstream(path + "/server0.safetensors") << "12345678";
    const Result<actors::Hash> hash = actors::hash_of_file(path + "/server0.safetensors");
    EXPECT_TRUE(hash.ok());
    manifest.parts.push_back({"server0", "server0.safetensors", 8, *hash});
    const Result<void> written = actors::write_manifest(path, manifest);
    EXPECT_TRUE(written.ok()) << written.error().message;
  }
  static JobOutcome failed(bool lost) {
    JobOutcome outcome;
    outcome.started = true;
    outcome.lost = lost;
    outcome.record.result.exit = kExitFailed;
    outcome.record.result.cause = "it failed";
    outcome.record.result.steps = 12;
    return outcome;
  }
  static JobOutcome interrupted(bool told_to_end) {
    JobOutcome outcome;
    outcome.started = true;
    outcome.interrupted = true;
    outcome.told_to_end = told_to_end;
    outcome.record.result.exit = kExitInterrupted;
    outcome.record.result.cause = "interrupted";
    return outcome;
  }
  /// The exit code, and the last words.
  std::pair<int, std::string> end(JobOutcome outcome, bool stuck = false) {
    tell_how_it_goes_on(outcome, job, stuck, "sterna run x");
    return {outcome.record.result.exit, last_words(options, outcome)};
  }

  TemporaryFolder folder;
  JobOptions job;
  WholeRunOptions options;
};

TEST_F(RunEndingTest, WhoLostAnActorGoesOnFromACheckpoint) {
  keep_checkpoint(10);
  const auto [exit, words] = end(failed(true));
  EXPECT_EQ(exit, 75);
  EXPECT_THAT(words, HasSubstr("it failed\n"));
  EXPECT_THAT(words, EndsWith("\nsterna run x"));
}

TEST_F(RunEndingTest, WithoutOneItHasFailed) {
  const auto [exit, words] = end(failed(true));
  EXPECT_EQ(exit, 1);
  EXPECT_THAT(words, Not(HasSubstr("sterna run x")));
  keep_checkpoint(100);
  EXPECT_EQ(end(failed(true)).first, 1) << "it leaves no step to make";
  keep_checkpoint(20, "mlp");
  EXPECT_EQ(end(failed(true)).first, 1) << "it is of another net";
}

TEST_F(RunEndingTest, WhatWouldHappenAgainFails) {
  keep_checkpoint(10);
  for (const auto& [exit, words] : {end(failed(false)), end(failed(true), true)}) {
    EXPECT_EQ(exit, 1);
    EXPECT_THAT(words, EndsWith("\nonce that is put right, it goes on from its newest checkpoint "
                                "with\nsterna run x"));
  }
}

TEST_F(RunEndingTest, WhatCouldNotBeStartedAgainMayBeLater) {
  keep_checkpoint(10);
  JobOutcome outcome = failed(false);
  outcome.started = false;
  EXPECT_EQ(end(outcome).first, 1) << "it never ran";
  job.begun = true;
  EXPECT_EQ(end(outcome).first, 75);
  job.begun = false;
  job.restarts.push_back({.step = 10, .cause = "worker0 was killed"});
  EXPECT_EQ(end(outcome).first, 75);
}

TEST_F(RunEndingTest, WhoInterruptsHearsHowItGoesOn) {
  EXPECT_EQ(end(interrupted(false)).first, 130);
  EXPECT_EQ(end(interrupted(true)).first, 130) << "there is nothing to go on from";
  keep_checkpoint(10);
  const auto [exit, words] = end(interrupted(false));
  EXPECT_EQ(exit, 130);
  EXPECT_THAT(words, HasSubstr("interrupted at step"));
  EXPECT_THAT(words, EndsWith("\nsterna run x"));
}

TEST_F(RunEndingTest, WhoInterruptsHearsWhatIsLost) {
  JobOutcome outcome = interrupted(false);
  outcome.record.result.steps = 34;
  outcome.record.status.steps = 100;
  EXPECT_THAT(end(outcome).second, Not(HasSubstr("lost"))) << "its first checkpoint is to come";
  keep_checkpoint(10);
  EXPECT_THAT(end(outcome).second, HasSubstr("; its steps from 10 on are lost\n"));
  keep_checkpoint(34);
  EXPECT_THAT(end(outcome).second, Not(HasSubstr("lost")));
  options.file.checkpoint = {};
  job.file.checkpoint = {};
  EXPECT_THAT(end(outcome).second,
              EndsWith("; its steps are lost, as the file has no [checkpoint]"));
}

TEST_F(RunEndingTest, WhoIsToldToEndBySigtermGoesOn) {
  keep_checkpoint(10);
  const auto [exit, words] = end(interrupted(true));
  EXPECT_EQ(exit, 75);
  EXPECT_THAT(words, HasSubstr("interrupted at step"));
  EXPECT_THAT(words, EndsWith("\nsterna run x"));
}

TEST_F(RunEndingTest, OthersCheckpointsAreNotItsOwn) {
  keep_checkpoint(10);
  job.file.checkpoint.folder = job.checkpoints;
  EXPECT_EQ(end(failed(true)).first, 1);
  JobOutcome outcome = failed(true);
  outcome.record.result.checkpoint = job.checkpoints + "/" + actors::checkpoint_name(10);
  EXPECT_EQ(end(outcome).first, 75);
  job.file.checkpoint.resume.given = true;
  EXPECT_EQ(end(failed(true)).first, 75) << "it goes on from whatever lies there";
}

TEST_F(RunEndingTest, WhatItIsStartedAgainFromIsItsOwn) {
  keep_checkpoint(10, "lenet", "mine@2");
  keep_checkpoint(80, "lenet", "other@1");
  job.identity = "mine@2";
  EXPECT_EQ(only_of(job.file, job.identity), "") << "in its own directory there are no others'";
  job.file.checkpoint.folder = job.checkpoints;
  JobOutcome outcome = failed(true);
  outcome.record.result.checkpoint = job.checkpoints + "/" + actors::checkpoint_name(10);
  EXPECT_EQ(own_checkpoint(outcome, job), 10U);
  ASSERT_TRUE(Restarts().after(outcome, job));
  ASSERT_NE(job.from, nullptr);
  EXPECT_EQ(job.from->manifest.step, 10U);
}

TEST_F(RunEndingTest, OneThatIsDoneIsDone) {
  keep_checkpoint(10);
  const auto [exit, words] = end(JobOutcome());
  EXPECT_EQ(exit, 0);
  EXPECT_THAT(words, Not(HasSubstr("sterna run x")));
}

TEST(ResumeCommand, IsOneThatAShellTakes) {
  EXPECT_THAT(resume_command("run", "/runs/o'hara"),
              EndsWith(" run '/runs/o'\\''hara/resolved.toml' --run-dir '/runs/o'\\''hara' --set "
                       "checkpoint.resume=true"));
  EXPECT_EQ(with_resume("sterna run a.toml --set b=1", "/runs/mine"),
            "sterna run a.toml --set b=1 --run-dir /runs/mine --set checkpoint.resume=true");
}

TEST_F(RunEndingTest, OneThatDivergedSaysSo) {
  ActorPlan& worker = options.file.actors.emplace_back();
  worker.name = "worker0";
  worker.role = Role::kWorker;
  JobOutcome outcome;
  outcome.record.result.exit = kExitDone;
  outcome.record.result.precision_at_1 = 0.1;
  outcome.record.guessing_loss = 2.3026;
  outcome.record.result.loss = 5.1;
  outcome.record.result.decay_loss = 0.6;
  EXPECT_THAT(end(outcome).second, Not(HasSubstr("diverged"))) << "4.5 beside weight decay";
  outcome.record.result.loss = 8.7e5;
  EXPECT_THAT(end(outcome).second,
              HasSubstr("\nits last loss, 8.7e+05, is far above the 2.303 of guessing"));
  outcome.record.result.precision_at_1 = {};
  EXPECT_THAT(end(outcome).second, Not(HasSubstr("diverged"))) << "it has no classes to guess";
}

TEST_F(RunEndingTest, OneWithoutItsWeightsSaysWhereTheyAre) {
  JobOutcome outcome;
  outcome.started = true;
  outcome.record.result.run = "runs/one";
  outcome.record.result.exit = kExitFailed;
  outcome.weights_left = "the final weights stay on b, in work/runs/one: no answer";
  outcome.record.result.cause = outcome.weights_left;
  const auto [exit, words] = end(outcome);
  EXPECT_EQ(exit, kExitFailed);
  EXPECT_THAT(words, HasSubstr("all but its weights is in runs/one"));
  EXPECT_THAT(words, EndsWith("\n" + outcome.weights_left));
}

TEST_F(RunEndingTest, BegunAgainItGoesOnFromItsOwnOrAsItBegan) {
  ClusterFile file = job.file;
  EXPECT_EQ(begun_again(file, folder.path()).checkpoint.resume, (TrueOrText{true, ""}));
  file.checkpoint.resume = {true, "elsewhere"};
  EXPECT_EQ(begun_again(file, folder.path()).checkpoint.resume, (TrueOrText{true, "elsewhere"}));
  keep_checkpoint(10);
  EXPECT_EQ(begun_again(file, folder.path()).checkpoint.resume, (TrueOrText{true, ""}));
}

TEST_F(RunEndingTest, InAFolderThatOthersMayHaveItGoesOnFromWhatItMade) {
  ClusterFile file = job.file;
  file.checkpoint.resume = {};
  file.checkpoint.folder = job.checkpoints;
  const TemporaryFolder run;
  const auto begins = [&](double time) {
    std::ofstream(run / "metrics.jsonl") << metrics_header(run.path(), time) << "\n";
  };
  begins(60);
  keep_checkpoint(10, "lenet", run_identity(run.path()).value_or("none"));
  std::filesystem::remove(run / "metrics.jsonl");
  EXPECT_FALSE(begun_again(file, run.path()).checkpoint.resume.given) << "it never began";
  begins(61);
  EXPECT_FALSE(begun_again(file, run.path()).checkpoint.resume.given) << "another's";
  begins(60);
  EXPECT_THAT(begun_again(file, run.path()).checkpoint.resume.text, HasSubstr(job.checkpoints));
  file.checkpoint.resume = {.given = true};
  begins(61);
  EXPECT_EQ(begun_again(file, run.path()).checkpoint.resume, (TrueOrText{true, ""}))
      << "the file says that all there is its own";
}

TEST_F(RunEndingTest, BegunAgainItKeepsTheCodecsThatWereChosen) {
  const auto given =
      read_cluster_file(std::string(std::getenv("STERNA_SOURCE")) + "/configs/lenet_mnist.toml");
  ASSERT_TRUE(given.ok()) << given.error().message;
  ClusterFile file = *given;
  file.gradient.codec = "auto";
  EXPECT_EQ(begun_again(file, folder.path()).gradient.codec, "auto");
  ClusterFile chosen = file;
  chosen.gradient.codec = "bf16";
  std::ofstream(folder / "resolved.toml") << resolved(chosen);
  EXPECT_EQ(begun_again(file, folder.path()).gradient.codec, "bf16");
}

}  // namespace
}  // namespace sterna::launcher
