// How a run has ended, by its directory alone.
#include "launcher/commands/record/directory_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "input/files/folder_lock.h"
#include "tests/launcher/kept_checkpoint.h"
#include "tests/launcher/one_of_each.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Phase = DirectoryEnd::Phase;

class DirectoryEndTest : public testing::Test {
 protected:
  DirectoryEndTest() { std::filesystem::create_directories(run + "/logs"); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(run + "/" + name) << text;
  }
  void has_begun() const {
    write("resolved.toml", kOneOfEach + R"([job]
net = "mlp"
steps = 100
[checkpoint]
every_steps = 10
)");
  }
  DirectoryEnd end(const std::string& directory) const {
    const Result<DirectoryEnd> found = directory_end(directory);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *found : DirectoryEnd();
  }
  DirectoryEnd end() const { return end(run); }

  TemporaryFolder folder;
  const std::string run = folder.path() + "/run";
};

TEST_F(DirectoryEndTest, OfWhatIsNoRunsDirectorySaysThat) {
  EXPECT_EQ(end().phase, Phase::no_run);
  EXPECT_EQ(end(folder.path() + "/none").phase, Phase::no_run);
}

TEST_F(DirectoryEndTest, OfOneThatWasKilledIsTheCommandThatGoesOn) {
  has_begun();
  EXPECT_EQ(end().phase, Phase::silent);
  EXPECT_EQ(end().exit, 1);
  EXPECT_EQ(end().told_of("x"), "x has ended without a word: it was killed, or its disk was full");
  EXPECT_THAT(end().json, EndsWith(",\"ended\":null,\"phase\":\"abandoned\"}"));
  keep_checkpoint(run, 100);
  EXPECT_EQ(end().resume, "") << "behind it there is no step to make";
  keep_checkpoint(run, 20);
  EXPECT_THAT(end().resume, EndsWith(" run " + run + "/resolved.toml --run-dir " + run +
                                     " --set checkpoint.resume=true"));
  EXPECT_THAT(end().told_of("x"),
              EndsWith("\nit goes on from its newest checkpoint with\n" + end().resume));
  EXPECT_THAT(end().json, HasSubstr("\"resume\":\""));
  EXPECT_EQ(end(run + "/").resume, end().resume);
  write("logs/launcher.log", "");
  EXPECT_THAT(end().resume, HasSubstr(" up " + run)) << "nobody watched it";
}

TEST_F(DirectoryEndTest, IsNotToldWhileSomebodyWritesThere) {
  has_begun();
  write("result.json", "{\"exit\":75}");
  const auto lock = input::FolderLock::take(run);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(end().phase, Phase::goes_on);
  EXPECT_FALSE(end().is_over());
}

TEST_F(DirectoryEndTest, IsWhatTheResultSays) {
  write("result.json", "{\"exit\":1,\"steps\":1234,\"cause\":\"worker0#1 is dead\"}");
  EXPECT_EQ(end().exit, 1);
  EXPECT_EQ(end().told_of("x"), "x has ended at step 1,234: worker0#1 is dead");
  write("result.json",
        "{\"exit\":0,\"steps\":1234,\"data\":\"digits\",\"precision_at_1\":0.98,\"seconds\":2.5}");
  EXPECT_EQ(end().told_of("x"),
            "x has ended: precision@1 0.9800 on digits after 1,234 steps in 2.5 s");
  write("result.json", "{\"exit\":0}");
  EXPECT_EQ(end().told_of("x"), "x has ended: done");
}

TEST_F(DirectoryEndTest, OfAResultThatSomebodyElseWroteIsShort) {
  constexpr int kDeep = 200'000;
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  write("result.json", "{\"exit\":1,\"cause\":" + deep + "}");
  EXPECT_EQ(end().told_of("x"), "x has ended: ");
  EXPECT_THAT(end().json, HasSubstr("\"exit\":1"));

  write("result.json", "{\"exit\":1,\"cause\":\"" + std::string(3'000'000, 'x') + "\"}");
  EXPECT_LT(end().told_of("x").size(), 3000U);

  write("result.json",
        R"({"exit":0,"steps":1e300,"data":"digits","precision_at_1":1e300,"seconds":1e300})");
  EXPECT_EQ(end().told_of("x"),
            "x has ended: precision@1 1.0000 on digits after 1,000,000,000,000,000 steps in "
            "10000000000.0 s");
  write("result.json", "{\"exit\":75,\"resume\":\"" + std::string(100'000, 'x') + "\"}");
  EXPECT_EQ(end().resume, "");
}

TEST_F(DirectoryEndTest, OfADirectoryThatWasMovedIsTheCommandForWhereItIs) {
  has_begun();
  const std::string here =
      "sterna run " + run + "/resolved.toml --run-dir " + run + " --set checkpoint.resume=true";
  write("result.json", "{\"exit\":75,\"resume\":\"" + here + "\"}");
  EXPECT_EQ(end().resume, here) << "as it was told";
  const std::string link = folder.path() + "/link";
  std::filesystem::create_directory_symlink(run, link);
  EXPECT_EQ(end(link).resume, here) << "by another name";
  const std::string other = folder.path() + "/other";
  std::filesystem::rename(run, other);
  EXPECT_THAT(end(other).resume, EndsWith(" run " + other + "/resolved.toml --run-dir " + other +
                                          " --set checkpoint.resume=true"));
  EXPECT_THAT(end(other).json, HasSubstr("--run-dir " + other + " "));
  std::filesystem::remove(other + "/resolved.toml");
  EXPECT_EQ(end(other).resume, here) << "nothing there could be started";
}

TEST_F(DirectoryEndTest, OfARunInAQueueIsTheQueuesCommand) {
  has_begun();
  write("result.json", R"({"exit":75,"resume":"sbatch /somewhere/run.sbatch"})");
  EXPECT_EQ(end().resume, "sbatch /somewhere/run.sbatch");
}

}  // namespace
}  // namespace sterna::launcher
