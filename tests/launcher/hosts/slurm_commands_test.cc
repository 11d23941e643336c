// Slurm's commands as shell scripts: all that counts of them is what they print.
#include "launcher/hosts/slurm_commands.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

class SlurmCommands : public testing::Test {
 protected:
  SlurmCommands() { ::setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1); }
  ~SlurmCommands() override { ::setenv("PATH", path_.c_str(), 1); }
  void install(const std::string& command, const std::string& script) const {
    std::ofstream(folder_ / command) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder_ / command, fs::perms::owner_all);
  }
  std::string path_ = ::getenv("PATH");
  TemporaryFolder folder_;
  RealMachine machine_{[](std::string_view) {}};
};

TEST_F(SlurmCommands, AreHeardWithoutTheirLastLineEnd) {
  EXPECT_EQ(output_of(machine_, {"/bin/sh", "-c", "echo a; echo b"}).value(), "a\nb");
}

TEST_F(SlurmCommands, ThatFailSayWhyInTheirLastLine) {
  const Result<std::string> failed =
      output_of(machine_, {"/bin/sh", "-c", "echo first >&2; echo why >&2; exit 1"});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "why");
}

TEST_F(SlurmCommands, ThatFailInSilenceSayHowTheyEnded) {
  EXPECT_EQ(output_of(machine_, {"/bin/sh", "-c", "exit 3"}).error().message,
            "/bin/sh exited with code 3");
}

TEST_F(SlurmCommands, ThatAreNotThereAreAnError) {
  EXPECT_FALSE(output_of(machine_, {"no-such-command"}).ok());
}

TEST_F(SlurmCommands, TellAJobsStateAndWhyItWaits) {
  install("squeue", "echo 'PENDING|Priority|0:00|'");
  const SlurmJob job = slurm_job(machine_, "7").value();
  EXPECT_EQ(job.state, "PENDING");
  EXPECT_EQ(job.reason, "Priority");
  EXPECT_EQ(job.nodes, "");
  EXPECT_FALSE(job.over());
}

TEST_F(SlurmCommands, MayHaveForgottenAJobWhichIsThenOver) {
  install("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
  EXPECT_TRUE(slurm_job(machine_, "7").value().over());
}

TEST_F(SlurmCommands, ThatDoNotAnswerAreNoEndOfAJob) {
  install("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
  EXPECT_EQ(slurm_job(machine_, "7").error().message, "Unable to contact slurm controller");
}

TEST(SlurmJob, ThatNoNodeCouldBeginSaysWhereToLook) {
  EXPECT_EQ(slurm_words("7", {"FAILED", "NonZeroExitCode", "0:01", "a"}),
            "job 7 is over: failed after 0:01");
  EXPECT_EQ(slurm_words("7", {"FAILED", "JobLaunchFailure", "0:00", "a"}),
            "job 7 is over: failed after 0:00: a node could not begin it, as where the folder that "
            "its output goes to is not on that node, too");
}

TEST(SlurmJob, IsOverInEveryStateInWhichNothingOfItRuns) {
  SlurmJob job;
  for (const char* over : {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL"}) {
    job.state.assign(over);
    EXPECT_TRUE(job.over()) << over;
  }
  for (const char* on : {"PENDING", "RUNNING", "COMPLETING", "SUSPENDED"}) {
    job.state.assign(on);
    EXPECT_FALSE(job.over()) << on;
  }
}

}  // namespace
}  // namespace sterna::launcher
