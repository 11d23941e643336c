#include "launcher/hosts/placer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/slurm_commands.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::Contains;

/// a is this machine; b is another, where the placer says so.
ClusterFile file_of(const std::string& placer) {
  ClusterFile file;
  file.cluster.placer = placer;
  file.cluster.head = "a";
  file.hosts = {HostSection{"a", "127.0.0.1", "127.0.0.1"},
                HostSection{"b", "10.0.0.2", "10.0.0.2", "me@b"}};
  file.hosts[1].work = "/work";
  return file;
}

TEST(Placer, IsThereForEveryNameThatAFileMaySay) {
  for (const std::string_view name : placer_names()) {
    EXPECT_EQ(placer_traits(name).name, name);
    if (name != placer_names().front()) {
      EXPECT_NE(&placer_named(name), &placer_named(placer_names().front())) << name;
    }
    EXPECT_THAT(placer_help(), testing::HasSubstr(std::string(name) + " ("));
  }
}

TEST(Placer, IsTheFirstWhereNobodyIsCalledSo) {
  EXPECT_EQ(&placer_named("pbs"), &placer_named("ssh"));
  EXPECT_EQ(placer_traits("pbs").name, "ssh");
}

TEST(SshPlacer, ReachesOverSshWhoHasOne) {
  const ClusterFile file = file_of("ssh");
  EXPECT_FALSE(is_remote(file, file.hosts[0]));
  EXPECT_TRUE(is_remote(file, file.hosts[1]));
  const RemotePlacerOptions options = placer_options_of(file, {}, {});
  ASSERT_EQ(options.hosts.size(), 1U);
  const RemoteHost& b = options.hosts.at("b");
  EXPECT_EQ(b.command.front(), "ssh");
  EXPECT_THAT(b.command, Contains("me@b"));
  EXPECT_TRUE(b.through_shell);
  EXPECT_EQ(b.work, "/work");
  EXPECT_TRUE(placer_of(file).ships());
  EXPECT_EQ(placer_of(file).queue(), nullptr);
}

TEST(LocalPlacer, HasEveryHostHereWhateverItsSshSays) {
  const ClusterFile file = file_of("local");
  EXPECT_FALSE(has_remote_hosts(file));
  RealMachine machine;
  const auto nodes = placer_of(file).nodes(machine, file, {});
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes.value(), nullptr);
}

TEST(JoinPlacer, StartsNobodyAndShipsNothing) {
  const ClusterFile file = file_of("join");
  EXPECT_TRUE(is_remote(file, file.hosts[1]));
  EXPECT_TRUE(placer_options_of(file, {}, {}).hosts.empty());
  EXPECT_FALSE(placer_of(file).ships());
}

TEST(JoinPlacer, WritesAFileForWhomItAwaits) {
  const TemporaryFolder folder;
  const ClusterFile file = file_of("join");
  RealMachine machine;
  std::string said;
  NodeStart start;
  start.run_directory = folder.path();
  start.say = [&](std::string_view line) { said = line; };
  const auto nodes = placer_of(file).nodes(machine, file, start);
  ASSERT_TRUE(nodes.ok());
  Bootstrap bootstrap;
  bootstrap.kind = ProcessKind::NODE;
  bootstrap.host = "b";
  ASSERT_TRUE(nodes.value()->spawn(bootstrap, {}).ok());
  EXPECT_EQ(said, "waiting for b: bring it the file " + folder.path() +
                      "/join/b and run there: sterna join FILE");
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/join/b"));
}

TEST(JoinPlacer, ReplacesWhatALauncherLeftThatWasKilled) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "join");
  for (const char* host : {"b", "gone"}) std::ofstream(folder / "join" / host) << "of before";
  const ClusterFile file = file_of("join");
  RealMachine machine;
  NodeStart start;
  start.run_directory = folder.path();
  start.say = [](std::string_view) {};
  const auto nodes = placer_of(file).nodes(machine, file, start);
  ASSERT_TRUE(nodes.ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "join/gone"));
  Bootstrap bootstrap;
  bootstrap.kind = ProcessKind::NODE;
  bootstrap.host = "b";
  const auto spawned = nodes.value()->spawn(bootstrap, {});
  EXPECT_TRUE(spawned.ok()) << spawned.error().message;
}

TEST(SlurmPlacer, RunsOnTheNodesOfItsAllocationByThemselves) {
  const ClusterFile file = file_of("slurm");
  EXPECT_TRUE(file.cluster.placing().brings_hosts);
  const RemotePlacerOptions options = placer_options_of(file, {}, {});
  ASSERT_EQ(options.hosts.size(), 1U);
  EXPECT_EQ(options.hosts.at("b").command.front(), "srun");
  EXPECT_FALSE(options.hosts.at("b").through_shell);
}

TEST(SlurmPlacer, AloneHasAQueueThatKeepsRuns) {
  for (const std::string_view name : placer_names()) {
    EXPECT_EQ(placer_named(name).queue() != nullptr, name == "slurm") << name;
  }
  const JobQueue* queue = placer_named("slurm").queue();
  EXPECT_EQ(queue->name(), "Slurm");
  EXPECT_GT(queue->signals_take(), Duration::zero());
}

/// A job "job" in a folder of its own, where Slurm takes every script, or none.
class SlurmSubmission : public testing::Test {
 protected:
  SlurmSubmission() {
    std::filesystem::create_directory(folder_ / "here");
    takes_scripts(true);
    ::setenv("PATH", (folder_.path() + ":" + path_).c_str(), 1);
    std::filesystem::current_path(folder_ / "here");
    file_.cluster.placer = "slurm";
    file_.cluster.name = "job";
  }
  ~SlurmSubmission() override {
    std::filesystem::current_path(before_);
    ::setenv("PATH", path_.c_str(), 1);
  }
  void takes_scripts(bool takes) {
    std::ofstream(folder_ / "sbatch") << (takes ? "#!/bin/sh\necho 17\n" : "#!/bin/sh\nexit 1\n");
    std::filesystem::permissions(folder_ / "sbatch", std::filesystem::perms::owner_all);
  }
  Result<Submitted> submit(const std::string& run_dir) {
    RealMachine machine;
    return placer_of(file_).queue()->submit(machine, file_, {"", run_dir});
  }
  TemporaryFolder folder_;
  ClusterFile file_;

 private:
  const std::string path_ = ::getenv("PATH");
  const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(SlurmSubmission, HasItsFilesBesideTheRunsDirectoryWhereverThatIs) {
  const auto job = submit(folder_.path() + "/x/run/");
  const auto unnamed = submit("");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->run_directory, folder_.path() + "/x/run");
  EXPECT_EQ(job->output, folder_.path() + "/x/run.out");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "x/run.sbatch"));
  ASSERT_TRUE(unnamed.ok()) << unnamed.error().message;
  EXPECT_THAT(unnamed->output, testing::MatchesRegex("runs/job-[0-9TZ]+\\.out"));
  const auto scripts = std::filesystem::directory_iterator(folder_ / "here/runs");
  EXPECT_EQ(std::distance(begin(scripts), end(scripts)), 1);
}

TEST_F(SlurmSubmission, HasADirectoryThatNoOtherOfTheSameMomentHas) {
  constexpr std::size_t kAtOnce = 8;
  std::vector<std::thread> threads;
  std::vector<std::string> directories(kAtOnce);
  for (std::string& directory : directories) {
    threads.emplace_back([this, &directory] {
      const auto job = submit("");
      directory = job ? job->run_directory : job.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set(directories.begin(), directories.end()).size(), kAtOnce);
}

TEST_F(SlurmSubmission, LeavesAnothersScriptAsItIs) {
  std::ofstream(folder_ / "run.sbatch") << "mine";
  const auto job = submit(folder_ / "run");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, Errc::already_exists);
  EXPECT_THAT(job.error().message, testing::HasSubstr("run.sbatch exists: "));
  std::string content;
  std::ifstream(folder_ / "run.sbatch") >> content;
  EXPECT_EQ(content, "mine");
  std::filesystem::create_directory(folder_ / "run");
  EXPECT_TRUE(submit(folder_ / "run").ok()) << "that of the run that goes on there is its own";
}

TEST_F(SlurmSubmission, FromAFolderThatIsGoneIsAnError) {
  std::filesystem::remove(folder_ / "here");
  const auto job = submit(folder_ / "run");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().message,
            "the folder that the job would begin in: No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.sbatch"));
}

TEST_F(SlurmSubmission, ThatIsRefusedMayBeTriedAgain) {
  takes_scripts(false);
  const auto refused = submit(folder_ / "run");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("sbatch refuses "));
  takes_scripts(true);
  const auto job = submit(folder_ / "run");
  EXPECT_TRUE(job.ok()) << job.error().message;
}

TEST(SlurmJob, IsSaidAsPeopleReadIt) {
  EXPECT_EQ(slurm_words("7", {"PENDING", "Priority", "0:00", ""}),
            "job 7 waits in the queue: Priority");
  EXPECT_EQ(slurm_words("7", {"RUNNING", "None", "1:02", "n[1-3]"}),
            "job 7 is running on n[1-3] since 1:02");
  EXPECT_EQ(slurm_words("7", {"COMPLETED", "None", "9:00", "n1"}),
            "job 7 is over: completed after 9:00");
  EXPECT_EQ(slurm_words("7", {}), "job 7 is over; Slurm has forgotten it");
}

}  // namespace
}  // namespace sterna::launcher
