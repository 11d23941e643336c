// What a run keeps its checkpoints in.
#include "launcher/run/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/launcher/kept_checkpoint.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CheckpointFolderTest : public testing::Test {
 protected:
  CheckpointFolderTest() {
    file_.job.net = "lenet";
    file_.checkpoint.every_steps = 10;
  }
  Result<void> tried(const std::string& name) {
    file_.checkpoint.folder = name;
    return try_checkpoint_folder(file_);
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
  EXPECT_TRUE(try_checkpoint_folder(file_).ok()) << "it makes none";
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

}  // namespace
}  // namespace sterna::launcher
