// What a run keeps its checkpoints in.
#include "launcher/run/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

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

}  // namespace
}  // namespace sterna::launcher
