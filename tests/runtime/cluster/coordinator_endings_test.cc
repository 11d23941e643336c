// Who has died and why, and the end of the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

using CoordinatorEndings = ClusterSim;

TEST_F(CoordinatorEndings, TheDeathOfTheNodeIsTheCauseAndItsActorsAreTheConsequence) {
  spawn("a");
  world.kill("node-localhost");
  ASSERT_TRUE(wait([&] { return downs.size() >= 2; }, seconds(5)));
  ASSERT_TRUE(cluster.failure().has_value());
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("SIGKILL"));
  EXPECT_FALSE(world.lives("a"));
}

TEST_F(CoordinatorEndings, ASilentNodeIsKilledAndNamed) {
  spawn("a");
  world.freeze("node-localhost");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value() && !cluster.failure()->consequence; },
                   seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(CoordinatorEndings, StoppingAtTheFirstDeathStillNamesTheNodeBehindIt) {
  spawn("a");
  world.freeze("node-localhost");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  cluster.stop(seconds(1));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(CoordinatorEndings, WhoEndsForWantOfAnotherIsNotTheCause) {
  // As of a process that the kernel still takes down: its links are lost, its end is not seen yet.
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  world.freeze("b");
  world.network().cut("a", "b");
  ASSERT_TRUE(wait([&] { return reported("a reports about b"); }, seconds(1)));
  cluster.process().tell(a, Fail{"b does not answer"});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(1)));
  EXPECT_EQ(cluster.failure()->identity.name, "a");
  EXPECT_TRUE(cluster.failure()->consequence);
  cluster.stop(seconds(1));
  EXPECT_EQ(cluster.failure()->identity.name, "b");
}

TEST_F(CoordinatorEndings, ALinkThatIsLostBetweenTwoActorsEndsTheOneThatIsReported) {
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  world.network().cut("a", "b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("link lost"));
}

TEST_F(CoordinatorEndings, ALostLauncherEndsEverything) {
  spawn("a");
  world.network().cut("launcher", "coordinator");
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(5)));
}

}  // namespace
}  // namespace sterna::test
