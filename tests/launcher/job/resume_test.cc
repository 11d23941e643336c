// What a run keeps its checkpoints in, and whether a job can go on from one.
#include "launcher/job/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "actors/weights/model_note.h"
#include "input/digits/digits.h"
#include "input/formats/labels.h"
#include "launcher/job/job_plan.h"
#include "tests/launcher/kept_checkpoint.h"
#include "tests/launcher/small_job_file.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class CheckpointFolderTest : public testing::Test {
 protected:
  CheckpointFolderTest() {
    file_.job.net = "lenet";
    file_.checkpoint.every_steps = 10;
  }
  Result<void> tried(const std::string& name) {
    file_.checkpoint.folder = name;
    const auto taken = take_checkpoint_folder(file_);
    return taken ? Result<void>() : Result<void>(taken.error());
  }
  TemporaryFolder folder_;
  ClusterFile file_;
};

TEST_F(CheckpointFolderTest, IsMadeBeforeTheRunStarts) {
  EXPECT_TRUE(tried(folder_ / "a/b").ok());
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a/b"));
  EXPECT_TRUE(tried("").ok()) << "in the run's directory";
}

TEST_F(CheckpointFolderTest, OneThatCannotBeMadeIsRefused) {
  const Result<void> refused = tried("/proc/checkpoints");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              StartsWith("checkpoint.folder: cannot make the directory /proc/checkpoints: "));
  EXPECT_THAT(refused.error().message, HasSubstr("; name another"));
  file_.checkpoint.every_steps = 0;
  EXPECT_TRUE(take_checkpoint_folder(file_).ok()) << "it makes none";
}

TEST_F(CheckpointFolderTest, IsOneRunsAtATime) {
  file_.checkpoint.folder = folder_ / "shared";
  {
    const auto taken = take_checkpoint_folder(file_);
    ASSERT_TRUE(taken.ok() && taken->has_value());
    const auto second = take_checkpoint_folder(file_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().message,
              "checkpoint.folder: " + (folder_ / "shared").string() +
                  ": another run keeps its checkpoints there now; name another, or none for one in "
                  "the run's directory");
  }
  EXPECT_TRUE(take_checkpoint_folder(file_).ok());
}

TEST_F(CheckpointFolderTest, NewerOnesThatAreDamagedArePassedOverWithTheirFile) {
  const std::string run = folder_ / "run";
  for (const std::uint64_t step : {5, 10, 15}) keep_checkpoint(run, step);
  const std::string part = run + "/checkpoints/step-000000010/server0.safetensors";
  std::ofstream(part) << "1234567";
  std::filesystem::remove(run + "/checkpoints/step-000000015/manifest.json");  // never finished
  const auto found = actors::open_checkpoint(run);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->manifest.step, 5U);
  EXPECT_THAT(actors::damaged_after(*found), ElementsAre(StartsWith(part + ": 7 bytes, ")));
  EXPECT_THAT(passed_over(file_, *found), ElementsAre(StartsWith("not gone on from: " + part)));
}

TEST_F(CheckpointFolderTest, ThatOthersShareItGoesOnFromItsOwn) {
  namespace fs = std::filesystem;
  const std::string shared = folder_ / "shared";
  keep_checkpoint(shared, 80, "other@1.000000");
  keep_checkpoint(shared, 10, "mine@60.500000");
  file_.job.net = "mlp";
  file_.job.steps = 100;
  file_.checkpoint.folder = shared + "/checkpoints";
  file_.checkpoint.resume.given = true;
  const std::string run = folder_ / "run";
  const auto step = [&] {
    const auto found = checkpoint_to_resume(file_, run);
    return found && *found != nullptr ? (*found)->manifest.step : 0;
  };
  EXPECT_EQ(step(), 80U) << "it has none, and was told to go on from what there is";
  fs::create_directories(run);
  std::ofstream(run + "/metrics.jsonl") << R"({"kind":"run","run":"runs/mine","time":60.5})"
                                           "\n";
  EXPECT_EQ(step(), 10U);
  EXPECT_EQ(run_to_resume(file_, run), "mine@60.500000") << "whose copies are asked for";
  EXPECT_EQ(begun_again(file_, run).checkpoint.resume.text, "");
  file_.checkpoint.resume = {};
  EXPECT_EQ(begun_again(file_, run).checkpoint.resume.text,
            shared + "/checkpoints/" + actors::checkpoint_name(10));
  std::ofstream(run + "/metrics.jsonl") << R"({"kind":"run","run":"runs/mine","time":61})"
                                           "\n";
  EXPECT_EQ(begun_again(file_, run).checkpoint.resume.given, false) << "one of the same name";
}

TEST_F(CheckpointFolderTest, OnlyWhoGoesOnFromItsOwnReplacesWhatIsThere) {
  namespace fs = std::filesystem;
  const std::string run = folder_ / "run";
  const auto refused = [&](const actors::SavedCheckpoint* from) {
    const Result<void> may = check_may_write_into(run, file_, from);
    return may ? "" : may.error().message;
  };
  EXPECT_EQ(refused(nullptr), "") << "it is not there";
  fs::create_directories(run);
  EXPECT_EQ(refused(nullptr), "") << "it is empty";
  std::ofstream(run + "/notes.txt") << "mine";
  const std::string foreign =
      run + ": it is no run's directory, and not empty; give another --run-dir";
  EXPECT_EQ(refused(nullptr), "the run directory " + foreign);
  const std::string shared = folder_ / "shared";
  keep_checkpoint(shared, 10, "mine@60.500000");
  const auto from = actors::open_checkpoint(shared);
  ASSERT_TRUE(from.ok()) << from.error().message;
  EXPECT_EQ(refused(&*from), "the run directory " + foreign) << "another run made that";
  file_.checkpoint.resume.given = true;
  EXPECT_EQ(refused(&*from), "checkpoint.resume: " + foreign);
  std::ofstream(run + "/metrics.jsonl") << R"({"kind":"run","run":"runs/mine","time":60.5})"
                                           "\n";
  std::ofstream(run + "/result.json") << R"({"exit":0,"steps":10})";
  EXPECT_EQ(refused(&*from), "") << "its own";
  EXPECT_THAT(refused(nullptr), HasSubstr("there is a run that has ended, and no checkpoint"));
  keep_checkpoint(shared, 20, "other@1.000000");
  const auto other = actors::open_checkpoint(shared);
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_THAT(refused(&*other), HasSubstr("there is a run that has ended"));
  fs::remove(run + "/result.json");
  EXPECT_EQ(refused(&*other), "") << "it has not ended";
}

class ResumedJob : public testing::Test {
 protected:
  ResumedJob() : data_{folder_.path(), "digits"} {
    EXPECT_TRUE(input::make_digits(folder_.path(), {.seed = 3, .train = 4, .test = 2}).ok());
    name_classes({"zero", "one", "two"});
    from_.folder = "calm/checkpoints/step-000000005";
    from_.manifest.net = "mlp";
    from_.manifest.step = 5;
    from_.manifest.resolved = resolved(small_job_file());
    const auto job = job_of(small_job_file(), data_);
    EXPECT_TRUE(job.ok()) << job.error().message;
    from_.manifest.note = to_metadata(note_of_job(*job, data_).value());
  }
  void name_classes(const std::vector<std::string>& names) const {
    EXPECT_TRUE(input::write_labels(folder_ / "labels.txt", {names, 0}).ok());
  }
  /// What is said against it; the checkpoint has no parameters at all.
  std::string refused(const ClusterFile& file = small_job_file()) const {
    const Result<void> checked = check_same_net(from_, file, data_);
    EXPECT_FALSE(checked.ok());
    if (checked) return "";
    EXPECT_EQ(checked.error().code, Errc::invalid_argument);
    return checked.error().message;
  }
  std::vector<std::string> changes(const std::vector<std::string>& settings) const {
    return changes_since(from_, small_job_file(settings));
  }

  TemporaryFolder folder_;
  const input::DataLocation data_;
  actors::SavedCheckpoint from_;
};

TEST_F(ResumedJob, DoesNotGoOnWithClassesOfOtherNamesOrInAnotherOrder) {
  const std::string places =
      " in calm/checkpoints/step-000000005 and \"dos\" in " + folder_.path() + "; ";
  name_classes({"zero", "one", "dos"});
  EXPECT_THAT(refused(), HasSubstr("checkpoint.resume: class 2 is \"two\"" + places));
  name_classes({"zero", "two", "one"});
  EXPECT_THAT(refused(), HasSubstr("class 1 is \"one\" in calm/checkpoints/step-000000005 and "
                                   "\"two\" in "));
}

TEST_F(ResumedJob, DoesNotGoOnWithAnotherNumberOfClasses) {
  EXPECT_THAT(refused(small_job_file({"data.classes=12"})),
              HasSubstr("checkpoint.resume: calm/checkpoints/step-000000005 is of 10 classes, and "
                        "this job has 12; "));
}

TEST_F(ResumedJob, DoesNotGoOnWithParametersOfAnotherSize) {
  EXPECT_THAT(refused(), HasSubstr("checkpoint.resume: calm/checkpoints/step-000000005: mlp has "
                                   "\"fc1/weights\" {4, 784}, and the checkpoint has none"));
}

TEST_F(ResumedJob, NothingHasChangedWhereAKeyTeachesNothing) {
  EXPECT_THAT(changes({}), IsEmpty());
  EXPECT_THAT(changes({"job.threads=2", "job.steps=90", "data.most_bad=0.5", "evaluator.every=3",
                       "actor.parameter_server.count=3", "checkpoint.every_steps=2"}),
              IsEmpty());
}

TEST_F(ResumedJob, WhatTeachesOtherwiseIsNamedKeyByKey) {
  EXPECT_THAT(
      changes({"job.batch=64", "job.seed=9", "optimizer.learning_rate=0.5", "gradient.codec=none",
               "actor.worker.count=3"}),
      ElementsAre("job.batch 32 -> 64", "job.seed 1 -> 9", "optimizer.learning_rate 0.01 -> 0.5",
                  "gradient.codec \"ternary\" -> \"none\"", "ranks 1 -> 3"));
}

TEST_F(ResumedJob, MoreStepsTeachOtherwiseWhereTheRateGoesByThem) {
  from_.manifest.resolved = resolved(small_job_file({"optimizer.schedule=cosine"}));
  EXPECT_THAT(changes({"optimizer.schedule=cosine", "job.steps=90"}),
              ElementsAre("job.steps 10 -> 90"));
}

TEST_F(ResumedJob, NothingIsSaidOfACheckpointThatDoesNotSayHowItWasMade) {
  from_.manifest.resolved = "format = 7";
  EXPECT_THAT(changes({"job.batch=64"}), IsEmpty());
}

}  // namespace
}  // namespace sterna::launcher
