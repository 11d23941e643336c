// The Slurm of the emulated hosts is a real one: its nodes are hosts with addresses of their own,
// and what it starts, tracks and cancels are processes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/cluster/cluster_hosts.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;

class Slurm : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    hosts_.emplace(3, GetParam(), std::vector<std::string>{"--gpus", "2"});
    STERNA_NEEDS_HOSTS(*hosts_);
  }
  SlurmHosts& hosts() { return *hosts_; }
  /// A job with a process on each node that would stay for ever; its arguments begin with `mark`.
  std::string start_job(const std::string& mark) {
    const Said said = hosts().slurm({"sbatch", "--parsable", "-N3", "--chdir=/tmp", "--wrap",
                                     "srun bash -c 'exec -a " + mark + " sleep 1000000'"});
    EXPECT_TRUE(said.ok()) << said.story();
    EXPECT_TRUE(eventually(seconds(30), [&] { return survivors(mark) == 3; }));
    return lines_of(said.out).at(0);
  }
  std::size_t survivors(const std::string& mark) { return hosts().survivors("^" + mark).size(); }
  static std::vector<std::string> sorted_lines(const Said& said) {
    std::vector<std::string> lines = lines_of(said.out);
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  std::optional<SlurmHosts> hosts_;
};

TEST_P(Slurm, RunsTasksOnItsNodesForTheLaunchingMachineAndForAHost) {
  const Said here = hosts().slurm({"srun", "-N3", "hostname"});
  EXPECT_EQ(sorted_lines(here), hosts().names()) << here.story();
  // The controller sees some time later that the first job has ended.
  const Said there = hosts().exec("b", {"srun", "-N3", "hostname"});
  EXPECT_EQ(sorted_lines(there), hosts().names()) << there.story();
}

TEST_P(Slurm, GivesTasksTheGpusThatTheyAskedFor) {
  const Said said =
      hosts().slurm({"srun", "-N2", "--gpus-per-node=2", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"});
  EXPECT_EQ(said.out, "0,1\n0,1\n") << said.story();
}

TEST_P(Slurm, EndsTheProcessesOfACancelledJob) {
  const std::string job = start_job("marked");
  EXPECT_TRUE(hosts().slurm({"scancel", job}).ok());
  EXPECT_TRUE(eventually(seconds(30), [&] { return survivors("marked") == 0; }));
}

TEST_P(Slurm, LosesSightOfATaskWhoseStepDaemonIsKilled) {
  start_job("marked");
  hosts().exec("b", {"pkill", "-9", "slurmstepd"});
  EXPECT_TRUE(eventually(seconds(10), [&] {
    return hosts().exec("b", {"pgrep", "slurmstepd"}).out.empty();
  }));
  const auto left = hosts().survivors("^marked");
  EXPECT_TRUE(std::any_of(left.begin(), left.end(), [](const Survivor& survivor) {
    return survivor.host == "b";
  })) << "then nobody has to look after its own processes";
}

INSTANTIATE_TEST_SUITE_P(Tracked, Slurm, testing::Values("pgid", "linuxproc"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sterna::test
