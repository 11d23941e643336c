// The launcher's agent: what it makes of the ends of the processes that it has started itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::StartsWith;

ClusterOptions without_restarts() {
  ClusterOptions options;
  options.coordinator_restarts.times = 0;
  return options;
}

class LauncherActorTest : public ClusterSim {
 protected:
  LauncherActorTest() : ClusterSim(without_restarts()) {}
};

TEST_F(LauncherActorTest, TheDeathOfTheCoordinatorEndsEverything) {
  spawn("a");
  world.kill("coordinator");
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.name, "coordinator");
}

TEST_F(LauncherActorTest, ASilentCoordinatorIsKilledAndNamed) {
  world.freeze("coordinator");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(20)));
  EXPECT_EQ(cluster.failure()->identity.name, "coordinator");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(LauncherActorTest, ANodeThatEndsForWantOfTheCoordinatorIsAConsequence) {
  world.kill("coordinator");
  ASSERT_TRUE(wait([&] { return downs.size() == 2; }, seconds(10)));
  for (const ProcessDown& down : downs) {
    EXPECT_EQ(down.consequence, down.identity.name == "node-localhost") << down.identity.name;
  }
}

}  // namespace
}  // namespace sterna::test
