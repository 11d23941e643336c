// Ranks whose python3 is a shell script: all that counts of them is what they say and how they end.
#include "launcher/bench/exchange/gloo_run.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

class GlooRun : public testing::Test {
 protected:
  GlooRun() { ::setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1); }
  ~GlooRun() override { ::setenv("PATH", path_.c_str(), 1); }
  /// Two ranks, each of which does this.
  Result<double> run(const std::string& what) {
    std::ofstream(folder_ / "python3") << "#!/bin/sh\n" << what << "\n";
    fs::permissions(folder_ / "python3", fs::perms::owner_all);
    return run_gloo("it's.py", {.elements = 100, .ranks = 2}, nullptr);
  }
  std::string path_ = ::getenv("PATH");
  TemporaryFolder folder_;
};

TEST_F(GlooRun, TakesTheTimeThatTheFirstRankSays) {
  const Result<double> seconds = run("echo '{\"ms_per_all_reduce\": 250, \"rank\": '$3'}'");
  ASSERT_TRUE(seconds.ok()) << seconds.error().message;
  EXPECT_EQ(*seconds, 0.25);
}

TEST_F(GlooRun, TellsEachRankWhoItIs) {
  EXPECT_TRUE(run("[ \"$1 $4 $5 $6 $7\" = \"it's.py --ranks 2 --elements 100\" ] && "
                  "echo '{\"ms_per_all_reduce\": 1}'")
                  .ok());
}

TEST_F(GlooRun, IsUnavailableWithoutTorch) {
  EXPECT_EQ(run("exit 77").error().code, Errc::unavailable);
}

TEST_F(GlooRun, SaysHowItEndedWhereItFailed) {
  EXPECT_EQ(run("exit 3").error().message, "it's.py ended with exit code 3");
  EXPECT_EQ(run("echo hello").error().code, Errc::remote);
}

}  // namespace
}  // namespace sterna::launcher
