// A run as the program sees it that starts it.
#include "runtime/cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ClusterSim, AnActorStartsInAProcessOfItsOwnAndAnswersTheLauncher) {
  const ActorRef<Peer> peer = spawn("worker-0", 40);
  EXPECT_TRUE(world.lives("worker-0"));
  EXPECT_EQ(ask(peer, 2), 42);
}

TEST_F(ClusterSim, NamesAreFoundFromTheLauncher) {
  spawn("worker-0", 5);
  const Result<ActorRef<Peer>> found = cluster.find<Peer>("worker-0", Duration::max());
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(ask(*found, 1), 6);
  const Result<ActorRef<Peer>> nobody = cluster.find<Peer>("nobody", seconds(1));
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().code, Errc::not_found);
}

TEST_F(ClusterSim, AnActorOfTheLaunchersOwnThatFailsEndsTheRun) {
  const auto local = [&] { return cluster.process().spawn<PeerActor>(PeerArgs{}).id.local; };
  cluster.process().kill(local(), "");
  EXPECT_FALSE(wait([&] { return cluster.failure().has_value(); }, seconds(1)));
  cluster.process().kill(local(), "it threw");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(1)));
  EXPECT_EQ(cluster.failure()->identity.name, "launcher");
  EXPECT_EQ(cluster.failure()->cause, "it threw");
}

TEST_F(ClusterSim, AnInterruptWhileItStopsEndsTheGrace) {
  spawn("a");
  spawn("b");
  world.freeze("b");
  cluster.interrupt();
  const Time began = world.loop().now();
  world.loop().after(milliseconds(500), [this] { cluster.interrupt(); });
  const StopReport report = cluster.stop(seconds(3600));
  EXPECT_LT(world.loop().now() - began, seconds(1));
  EXPECT_EQ(report.stopped, 1u);
  EXPECT_EQ(report.killed, 1u);
  EXPECT_EQ(report.survivors, 0u);
}

TEST_F(ClusterSim, ForEverIsAGraceToo) {
  spawn("a");
  const StopReport report = cluster.stop(Duration::max());
  EXPECT_EQ(report.stopped, 1u);
  EXPECT_EQ(report.killed, 0u);
}

/// What a run says at its start that has such options; "" where it starts, and an actor in it.
std::string complaint_about(ClusterOptions options) {
  const Registry registry = peer_registry();
  SimWorld world(1, registry);
  Cluster cluster(world.launcher(), registry, std::move(options));
  if (const Result<void> started = cluster.start(); !started) return started.error().message;
  ActorSpec spec{"a", "peer", pack(PeerArgs{})};
  spec.restart = {.times = 1, .within = Duration::max()};
  const auto actor = cluster.start_actors({spec});
  return actor ? "" : actor.error().message;
}

TEST(ClusterTimes, ForEverIsAYear) {
  constexpr Duration kForEver = Duration::max();
  EXPECT_EQ(complaint_about({.network = {},
                             .lease = kForEver,
                             .coordinator_restarts = {.times = 1, .within = kForEver},
                             .silence = kForEver,
                             .link_patience = kForEver,
                             .grace = kForEver,
                             .start_deadline = kForEver,
                             .log_directory = {}}),
            "");
}

TEST(ClusterTimes, ThoseThatNoProcessCanLiveWithAreRefusedAtTheStart) {
  EXPECT_THAT(complaint_about({.network = {}, .heartbeat = Duration::zero(), .log_directory = {}}),
              testing::StartsWith("ClusterOptions: "));
  EXPECT_THAT(complaint_about({.network = {}, .lease = Duration::zero(), .log_directory = {}}),
              testing::StartsWith("ClusterOptions: "));
  EXPECT_THAT(complaint_about({.network = {}, .grace = Duration(-1), .log_directory = {}}),
              testing::StartsWith("ClusterOptions: "));
}

TEST(ClusterSimSeeds, ARunIsAFunctionOfItsSeed) {
  const auto run = [](std::uint64_t seed) {
    const Registry registry = peer_registry();
    SimWorld world(seed, registry);
    Cluster cluster(world.launcher(), registry, {});
    EXPECT_TRUE(cluster.start().ok());
    const Result<ActorRef<Peer>> a = cluster.spawn<Peer>("a", "peer", PeerArgs{});
    EXPECT_TRUE(cluster.spawn<Peer>("b", "peer", PeerArgs{}).ok());
    EXPECT_TRUE(cluster.ask(*a, Relay{"b", 1}, seconds(5)).ok());
    cluster.stop(seconds(1));
    return std::pair(world.log(), world.loop().now());
  };
  EXPECT_EQ(run(7), run(7));
}

TEST_F(ClusterSim, AnInterruptEndsWhatWaits) {
  const ActorRef<Peer> a = spawn("a");
  world.loop().after(milliseconds(500), [this] { cluster.interrupt(); });
  const Result<Balance> answer = cluster.ask(a, Relay{"nobody", 1}, seconds(3600));
  EXPECT_EQ(answer.error().code, Errc::cancelled);
}

/// What each call that asks the run says; "" where one does not complain.
std::vector<std::string> complaints(Cluster& cluster) {
  const auto of = [](const auto& result) {
    return !result && result.error().code == Errc::unavailable ? result.error().message : "";
  };
  const ActorRef<Peer> nobody{};
  cluster.allow_faults();
  cluster.ends_soon();
  cluster.report({});
  EXPECT_FALSE(cluster.process_of("node-b").has_value());
  return {of(cluster.spawn<Peer>("a", "peer", PeerArgs{})),
          of(cluster.start_actors({{"a", "peer", pack(PeerArgs{})}})),
          of(cluster.find<Peer>("a", seconds(1))),
          of(cluster.ask(nobody, Deposit{1}, seconds(1))),
          of(cluster.publish("a", nobody)),
          of(cluster.inject({}).take()),
          of(cluster.read_file({})),
          of(cluster.inspect(kCoordinatorProcess)),
          of(cluster.admit_extra("a", {}))};
}

TEST(ClusterBeforeAndAfter, WhatAsksARunThatIsNotThereSaysSo) {
  const Registry registry = peer_registry();
  SimWorld world(1, registry);
  Cluster cluster(world.launcher(), registry, {});
  EXPECT_THAT(complaints(cluster),
              testing::Each("the run has not been started: call start() first"));
  ASSERT_TRUE(cluster.start().ok());
  EXPECT_EQ(cluster.start().error().code, Errc::already_exists);
  EXPECT_TRUE(cluster.spawn<Peer>("a", "peer", PeerArgs{}).ok());
  cluster.stop(seconds(1));
  EXPECT_THAT(complaints(cluster), testing::Each("the run has been stopped"));
  EXPECT_EQ(cluster.start().error().message, "the run has been stopped");
}

TEST(Describe, ADeathIsOneLineThatQuotesTheLogOfWhoSaidNothing) {
  ProcessDown down;
  down.identity = {"worker-0", 1};
  down.exit_code = 1;
  down.cause = "exited with code 1";
  down.last_lines = {"no such file"};
  EXPECT_EQ(describe(down), "worker-0#1 is dead: exited with code 1; it logged last: no such file");
  down.cause = "the loss is not finite";  // its own words
  EXPECT_EQ(describe(down), "worker-0#1 is dead: the loss is not finite");
  down.wanted = true;
  EXPECT_EQ(describe(down), "worker-0#1 has ended: the loss is not finite");
}

}  // namespace
}  // namespace sterna::test
