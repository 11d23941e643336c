// What Slurm says, read: allocations, folded counts, nodes.
#include "launcher/hosts/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;

using Variables = std::map<std::string, std::string>;

std::optional<SlurmAllocation> allocation_of(const Variables& variables) {
  return slurm_allocation([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

const Variables kVariables = {{"SLURM_JOB_ID", "17"},      {"SLURM_JOB_NODELIST", "n[1-3]"},
                              {"SLURMD_NODENAME", "n1"},   {"SLURM_JOB_CPUS_PER_NODE", "4(x2),3"},
                              {"SLURM_GPUS_ON_NODE", "2"}, {"SLURM_MEM_PER_NODE", "500"}};

TEST(SlurmAllocation, IsReadFromTheEnvironmentOfABatchScript) {
  const auto allocation = allocation_of(kVariables);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->job, "17");
  EXPECT_EQ(allocation->nodes, "n[1-3]");
  EXPECT_EQ(allocation->this_node, "n1");
  EXPECT_EQ(allocation->gpus, 2);
  EXPECT_EQ(allocation->memory, 500U << 20);
}

TEST(SlurmAllocation, IsNoneWithoutAJob) {
  EXPECT_FALSE(allocation_of({{"SLURM_CONF", "/etc/slurm/slurm.conf"}}));
}

TEST(SlurmAllocation, CountsTheGpusThatItsJobLists) {
  Variables variables = kVariables;
  variables.erase("SLURM_GPUS_ON_NODE");
  variables["SLURM_JOB_GPUS"] = "0,1,3";
  EXPECT_EQ(allocation_of(variables)->gpus, 3);
}

TEST(SlurmCounts, AreUnfolded) {
  EXPECT_THAT(unfold_counts("4(x2),3", 3).value(), ElementsAre(4, 4, 3));
  EXPECT_THAT(unfold_counts("8", 1).value(), ElementsAre(8));
  EXPECT_THAT(unfold_counts("2,1(x1),16", 3).value(), ElementsAre(2, 1, 16));
}

TEST(SlurmCounts, AreRefusedWhereTheySayNothingOfSoManyNodes) {
  for (const char* text : {"", "4", "4(x3)", "4(x2", "4(2)", "x,y", "4(x-1),3", "-4(x2)"}) {
    EXPECT_FALSE(unfold_counts(text, 2)) << text;
  }
}

constexpr const char* kNodes =
    "NodeName=n1 Arch=x86_64 ActiveFeatures=disk,fast Gres=gpu:2 NodeAddr=10.0.0.1 "
    "NodeHostName=n1 OS=Linux 6.1 #1 SMP   RealMemory=1000\n"
    "NodeName=n2 Arch=x86_64 ActiveFeatures=(null) NodeAddr=n2.cluster NodeHostName=n2\n";

TEST(SlurmNodes, HaveAddressesAndFeatures) {
  const std::vector<SlurmNode> nodes = parse_slurm_nodes(kNodes);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "n1");
  EXPECT_EQ(nodes[0].address, "10.0.0.1");
  EXPECT_THAT(nodes[0].features, ElementsAre("disk", "fast"));
  EXPECT_EQ(nodes[1].address, "n2.cluster");
  EXPECT_TRUE(nodes[1].features.empty());
}

TEST(SlurmHosts, HaveWhatTheAllocationHasOnThem) {
  SlurmAllocation allocation = *allocation_of(kVariables);
  allocation.cpus = "4,3";
  const auto hosts = slurm_hosts(allocation, {"n1", "n2"}, parse_slurm_nodes(kNodes));
  ASSERT_TRUE(hosts) << hosts.error().message;
  const HostSection& first = hosts->front();
  EXPECT_EQ(first.name, "n1");
  EXPECT_EQ(first.bind, "10.0.0.1");
  EXPECT_EQ(first.cpus, 4);
  EXPECT_EQ(first.gpus, 2);
  EXPECT_EQ(first.memory.count, 500U << 20);
  EXPECT_THAT(first.labels, ElementsAre("disk", "fast"));
  EXPECT_EQ(hosts->back().cpus, 3);
}

TEST(SlurmHosts, NeedAnAddressEach) {
  SlurmAllocation allocation = *allocation_of(kVariables);
  allocation.cpus = "4(x2)";
  const auto hosts = slurm_hosts(allocation, {"n1", "n9"}, parse_slurm_nodes(kNodes));
  ASSERT_FALSE(hosts);
  EXPECT_THAT(hosts.error().message, testing::HasSubstr("n9"));
}

}  // namespace
}  // namespace sterna::launcher
