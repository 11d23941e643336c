// What a launcher believes of what a run's head tells of the run.
#include "launcher/owner/owner_client.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

class ToldByAHead : public testing::Test {
 protected:
  ToldByAHead() {
    file_.cluster.name = "mnist";
    file_.cluster.placer = "ssh";
    file_.hosts = {HostSection{"a", "10.0.0.1", "10.0.0.1", "me@a"},
                   HostSection{"b", "10.0.0.2", "10.0.0.2", "me@b"}};
    order_.file_path = "/elsewhere/mnist.toml";
    order_.run = 7;
    order_.detached = true;
    told_.id = "mnist-1";
    told_.name = "other";
    told_.run = 8;
    told_.run_directory = "/data/runs/mnist-1";
    told_.file = "/elsewhere/other.toml";
    told_.head = "evil";
    told_.placer = "slurm";
    told_.slurm_job = "17";
    told_.keeper = told_.supervisor = Keeper::this_process();
    told_.hosts = {{"a", "-oProxyCommand=evil", "/"}};
    told_.ended = "yes";
  }
  ClusterFile file_;
  OwnerOrder order_;
  RunState told_;
};

TEST_F(ToldByAHead, WhatTheLauncherKnowsIsNotBelieved) {
  file_.cluster.head = "a";
  const RunState state = as_ordered(told_, file_, order_);
  EXPECT_EQ(state.id, "mnist-1");
  EXPECT_EQ(state.run_directory, "/data/runs/mnist-1");
  EXPECT_EQ(state.name, "mnist");
  EXPECT_EQ(state.run, 7U);
  EXPECT_EQ(state.file, "/elsewhere/mnist.toml");
  EXPECT_EQ(state.head, "a");
  EXPECT_EQ(state.placer, "ssh");
  EXPECT_EQ(state.slurm_job, "");
  EXPECT_EQ(state.ended, "");
  EXPECT_TRUE(state.detached);
  ASSERT_EQ(state.hosts.size(), 2U);
  EXPECT_EQ(state.hosts[0].ssh, "me@a");
  EXPECT_FALSE(state.keeper.is_here()) << "nobody of this machine is to be told to end";
  EXPECT_FALSE(state.supervisor.is_here());
}

TEST_F(ToldByAHead, ThatIsThisMachineItsKeeperIs) {
  const RunState state = as_ordered(told_, file_, order_);
  EXPECT_EQ(state.head, "");
  EXPECT_TRUE(state.keeper.is_here());
}

}  // namespace
}  // namespace sterna::launcher
