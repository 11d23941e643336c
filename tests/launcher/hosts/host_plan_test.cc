#include "launcher/hosts/host_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// "a" is this machine, "b" is reached over ssh.
ClusterFile two_hosts() {
  ClusterFile file;
  file.cluster.name = "mnist";
  file.cluster.head = "a";
  file.cluster.transport = "auto";
  file.cluster.security = "curve";
  file.hosts.resize(2);
  file.hosts[0].name = "a";
  file.hosts[0].address = file.hosts[0].bind = "127.0.0.1";
  file.hosts[1].name = "b";
  file.hosts[1].address = "10.0.0.2";
  file.hosts[1].bind = "10.0.0.3";
  file.hosts[1].ssh = "me@b";
  file.hosts[1].work = "~/sterna-work";
  file.hosts[1].env = {{"A", "1"}, {"B", "x y"}};
  return file;
}

ClusterOptions options_of(const ClusterFile& file) {
  Result<ClusterOptions> options = cluster_options_of(file, "runs/x/logs", "x-1");
  EXPECT_TRUE(options.ok()) << options.error().message;
  return options.ok() ? *options : ClusterOptions{};
}

TEST(HostPlan, KnowsWhichHostsAreOtherMachines) {
  const ClusterFile file = two_hosts();
  EXPECT_FALSE(is_remote(file, file.hosts[0]));
  EXPECT_TRUE(is_remote(file, file.hosts[1]));
  EXPECT_TRUE(has_remote_hosts(file));
}

TEST(HostPlan, HasTheHeadAmongTheHostsOrHere) {
  ClusterFile file = two_hosts();
  EXPECT_EQ(head_of(file)->name, "a");
  EXPECT_FALSE(head_is_remote(file));
  file.cluster.head = "b";
  EXPECT_TRUE(head_is_remote(file));
  file.cluster.head.clear();
  EXPECT_EQ(head_of(file), nullptr);
  EXPECT_FALSE(head_is_remote(file));
}

TEST(HostPlan, ReachesOtherMachinesOverTcpWithKeys) {
  const ClusterOptions options = options_of(two_hosts());
  EXPECT_TRUE(options.network.tcp);
  EXPECT_TRUE(options.network.near);
  EXPECT_TRUE(options.network.curve);
  EXPECT_EQ(options.network.bind_address, "127.0.0.1");
  ASSERT_THAT(options.hosts, SizeIs(2));
  EXPECT_EQ(options.hosts[1].network.address, "10.0.0.2");
  EXPECT_EQ(options.hosts[1].network.bind_address, "10.0.0.3");
}

TEST(HostPlan, OfOneMachineMayGoWithoutTcp) {
  ClusterFile file = two_hosts();
  file.hosts.resize(1);
  file.cluster.transport = "ipc";
  EXPECT_FALSE(options_of(file).network.tcp);
}

TEST(HostPlan, KeepsLogsOfOtherMachinesInTheRunsFolderThere) {
  const ClusterOptions options = options_of(two_hosts());
  EXPECT_EQ(options.hosts[0].log_directory, "runs/x/logs");
  EXPECT_EQ(options.hosts[1].log_directory, "~/sterna-work/runs/x-1");
}

TEST(HostPlan, GivesEachHostItsVariables) {
  EXPECT_THAT(options_of(two_hosts()).hosts[1].environment, ElementsAre("A=1", "B=x y"));
  ClusterFile file = two_hosts();
  file.hosts[1].cuda = {"/opt/cudnn", "/opt/cuda/lib"};
  EXPECT_THAT(options_of(file).hosts[1].environment,
              ElementsAre("A=1", "B=x y", "STERNA_CUDA=/opt/cudnn:/opt/cuda/lib"));
}

TEST(HostPlan, KeepsToThePortsOfTheFile) {
  ClusterFile file = two_hosts();
  file.cluster.ports = PortRange{40000, 40009};
  const ClusterOptions options = options_of(file);
  EXPECT_EQ(options.network.port_low, 40000);
  EXPECT_EQ(options.hosts[1].network.port_high, 40009);
}

TEST(HostPlan, FindsTheAddressOfAHeadThatIsNoneOfTheHosts) {
  ClusterFile file = two_hosts();
  file.cluster.head.clear();
  const ClusterOptions options = options_of(file);
  EXPECT_EQ(options.head, "localhost");
  EXPECT_EQ(options.network.bind_address, "127.0.0.1") << "the way to the first host";
}

}  // namespace
}  // namespace sterna::launcher
