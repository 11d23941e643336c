// Sterna inside a Slurm: placed by its allocation, ended by its ways of ending, and asked after
// from outside.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cluster/slurm_job.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

class SlurmRun : public SlurmJobTest {};

TEST_F(SlurmRun, TrainsTheParametersThatOneHostTrains) {
  start_hosts("pgid");
  if (IsSkipped()) return;
  const std::string job = submit(10);
  ASSERT_TRUE(eventually(seconds(90), [&] { return result().is_object(); })) << story();
  const std::string here = hosts().launcher_folder() + "/here";
  std::ofstream(here + ".toml") << job_by_resources(10, "placer = \"local\"\n");
  Program local(hosts().launcher_folder(),
                {std::getenv("STERNA_BINARY"), "run", here + ".toml", "--run-dir", here, "--data",
                 hosts().launcher_folder() + "/digits"},
                with_variables(own_environment(), hosts().launcher_environment()));
  ASSERT_EQ(local.exit_code(seconds(60)), 0) << local.err();
  const auto expected = nlohmann::json::parse(content_of(here + "/result.json"));
  EXPECT_EQ(exit_of_run(), 0) << story();
  EXPECT_EQ(result()["parameters_sha256"], expected["parameters_sha256"]);
  EXPECT_TRUE(eventually(seconds(30), [&] { return forgotten(job); }));
  EXPECT_TRUE(nothing_left());
}

class SlurmEndings : public SlurmJobTest {
 protected:
  void SetUp() override { start_hosts(GetParam()); }
  void forget(const std::string& job) {
    hosts().slurm({"scancel", job});
    EXPECT_TRUE(eventually(seconds(30), [&] { return forgotten(job); }));
  }
};

TEST_P(SlurmEndings, LeaveNothing) {
  std::string job = start_for_ever();
  EXPECT_TRUE(hosts().slurm({"scancel", job}).ok());
  EXPECT_TRUE(nothing_left());
  forget(job);
  EXPECT_EQ(exit_of_run(), 130) << "it ended politely: " << story();

  job = start_for_ever();
  EXPECT_TRUE(hosts().slurm({"scancel", "--signal=KILL", "--full", job}).ok());
  EXPECT_TRUE(nothing_left()) << "of a job that was killed";
  forget(job);

  job = start_for_ever();
  hosts().exec("b", {"pkill", "-9", "slurmstepd"});
  EXPECT_TRUE(nothing_left()) << "of a job with a lost step";
  forget(job);
  EXPECT_EQ(exit_of_run(), 1) << story();

  job = start_for_ever();
  hosts().exec("a", {"pkill", "-9", "-f", R"(slurmstepd: \[[0-9]+\.batch)"});
  EXPECT_TRUE(nothing_left()) << "of a job whose script is nobody's";
  forget(job);
}

INSTANTIATE_TEST_SUITE_P(Tracked, SlurmEndings, testing::Values("pgid", "linuxproc"),
                         [](const auto& info) { return std::string(info.param); });

/// `up` outside an allocation. The launcher's home lies on the first node's disk: a shared one, as
/// far as the head goes.
class SlurmUp : public SlurmJobTest {
 protected:
  void SetUp() override {
    start_hosts("pgid");
    if (IsSkipped()) return;
    disk_ = hosts().folder() + "/hosts/a/disk/var_tmp";
    EXPECT_TRUE(hosts().exec("a", {"mkdir", "-p", hosts().folder() + "/hosts/a/disk"}).ok());
    EXPECT_TRUE(hosts().exec("a", {"ln", "-s", "/var/tmp", disk_}).ok());
    std::filesystem::create_directories(disk_ + "/user");
    std::ofstream(disk_ + "/user/job.toml")
        << job_by_resources(kForEver, "placer = \"slurm\"\nnodes = 3\ntime = \"10m\"\n");
  }
  Said sterna(const std::vector<std::string>& arguments) {
    // Through the bundle, which the first node finds at the same path.
    std::vector<std::string> command = {"/bin/sh", "-c", "cd \"$HOME\" && exec \"$0\" \"$@\"",
                                        disk_ + "/job/bundle/bin/sterna"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Program program(hosts().launcher_folder(), command,
                    with_variables(own_environment(),
                                   with_variables(hosts().launcher_environment(),
                                                  {"HOME=" + disk_ + "/user",
                                                   "XDG_STATE_HOME=" + disk_ + "/user/state"})));
    const auto code = program.exit_code(seconds(60));
    return {code.value_or(-1), program.out(), program.err()};
  }
  std::string disk_;
};

constexpr std::ptrdiff_t kProcesses = 1 + 3 + 9;  // the coordinator, a node on each host, actors

std::ptrdiff_t running(const std::string& status) {
  const auto json = nlohmann::json::parse(status, nullptr, false);
  // As long as the job waits in the queue the run has no members.
  if (json.is_discarded() || !json.contains("members")) return 0;
  return std::ranges::count_if(json["members"],
                               [](const auto& member) { return member["state"] == "running"; });
}

TEST_F(SlurmUp, SubmitsAndIsAskedAfterAndEnded) {
  const Said outside = sterna({"run", "job.toml"});
  EXPECT_EQ(outside.code, 2);
  EXPECT_THAT(outside.err, HasSubstr("sterna up FILE"));

  const Said up = sterna({"up", "job.toml", "--json"});
  ASSERT_EQ(up.code, 0) << up.story();
  EXPECT_THAT(up.err, HasSubstr("3 nodes with 3 cpus each"));
  const auto run = nlohmann::json::parse(up.out);
  EXPECT_THAT(sterna({"list"}).out, HasSubstr(run["id"].get<std::string>()));
  const Said again = sterna({"up", "job.toml"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("already up"));

  Said status;
  ASSERT_TRUE(eventually(seconds(90), [&] {
    status = sterna({"status", "--json"});
    return running(status.out) == kProcesses;
  })) << status.story();

  const Said down = sterna({"down"});
  EXPECT_EQ(down.code, 0) << down.story();
  EXPECT_THAT(down.out, HasSubstr("9 actors stopped, 0 killed; Slurm has nothing of job"));
  EXPECT_EQ(survivors(), 0U);
  EXPECT_TRUE(hosts().slurm({"squeue", "-h"}).out.empty());
  EXPECT_THAT(sterna({"status"}).err, HasSubstr("has ended"));
  EXPECT_EQ(sterna({"down"}).code, 0);
}

TEST_F(SlurmUp, CancelsARunThatItKnowsOnlyByItsJob) {
  const Said up = sterna({"up", "job.toml", "--json"});
  ASSERT_EQ(up.code, 0) << up.story();
  EXPECT_THAT(sterna({"status"}).out, HasSubstr("job "));
  const Said down = sterna({"down"});
  EXPECT_EQ(down.code, 0) << down.story();
  EXPECT_THAT(down.out, HasSubstr("cancelled; Slurm has nothing of job"));
  EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace sterna::test
