// A process from what it is told to its exit code.
#include "runtime/cluster/hosted_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

using HostedProcesses = ClusterSim;

TEST_F(HostedProcesses, AnActorThatFailsAtItsStartSaysWhy) {
  const auto sick = cluster.start_actors(
      {{.name = "sick", .type = "peer", .args = pack(PeerArgs{0, "no such file: x.idx"})}});
  ASSERT_FALSE(sick.ok());
  EXPECT_THAT(sick.error().message, HasSubstr("no such file: x.idx"));
  ASSERT_TRUE(cluster.failure().has_value());
  EXPECT_EQ(cluster.failure()->identity.name, "sick");
  EXPECT_EQ(cluster.failure()->exit_code, 1);
}

TEST_F(HostedProcesses, AStartThatFailsIsItsCallersErrorAndTheRunGoesOn) {
  std::vector<std::string> without;
  cluster.set_events({.goes_on_without = [&](const ProcessDown& down) {
    without.push_back(down.identity.name);
    return true;
  }});
  spawn("one");
  const Result<ActorRef<Peer>> sick =
      cluster.spawn<Peer>("sick", "peer", PeerArgs{0, "no such file: x.idx"});
  EXPECT_THAT(sick.error().message, HasSubstr("no such file: x.idx"));
  EXPECT_FALSE(cluster.spawn<Peer>("odd", "paer", PeerArgs{}).ok());
  EXPECT_FALSE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  EXPECT_EQ(ask(spawn("sick"), 1), 1) << "the name is free";
  EXPECT_EQ(cluster.spawn<Peer>("sick", "peer", PeerArgs{}).error().code, Errc::already_exists);
  EXPECT_TRUE(without.empty());
  world.kill("sick");
  EXPECT_TRUE(wait([&] { return without.size() == 1; }, seconds(10))) << "it had started";
  // While others start, too.
  world.kill("one");
  world.set_spawn_time(seconds(2));
  spawn("late");
  EXPECT_EQ(without, (std::vector<std::string>{"sick", "one"}));
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(HostedProcesses, AnUnknownTypeIsRefusedWithTheKnownOnes) {
  const Result<ActorRef<Peer>> odd = cluster.spawn<Peer>("odd", "paer", PeerArgs{});
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.error().message, AllOf(HasSubstr("'paer'"), HasSubstr("peer")));
}

/// One process alone on a machine that does not exist.
class AloneOnAMachine : public testing::Test {
 protected:
  AloneOnAMachine() {
    self.process = {20};
    self.identity = {"alone", 1};
    self.uplink.process = 21;
    self.uplink.identity = {"above", 1};
    self.uplink.control_endpoint = self.uplink.data_endpoint = "memory://above#1";
  }
  /// Runs it to its end.
  void run(ProcessKind kind) {
    self.kind = kind;
    hosted.emplace(world.launcher(), self, registry);
    const Result<Contact> started = hosted->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
    contact = *started;
    world.loop().run_until([this] { return hosted->ended(); }, world.loop().now() + seconds(60));
    EXPECT_TRUE(hosted->ended());
  }

  Registry registry = peer_registry();
  SimWorld world{1, registry};
  Bootstrap self;
  Contact contact;
  std::optional<HostedProcess> hosted;
};

TEST_F(AloneOnAMachine, ALauncherIsNotHosted) {
  self.kind = ProcessKind::LAUNCHER;
  EXPECT_EQ(HostedProcess(world.launcher(), self, registry).start().error().code,
            Errc::invalid_argument);
}

TEST_F(AloneOnAMachine, ANodeWithoutACoordinatorEndsForWantOfIt) {
  run(ProcessKind::NODE);
  EXPECT_EQ(contact.control_endpoint, "memory://alone#1");
  EXPECT_EQ(hosted->exit_code(), kExitLostLease);
  EXPECT_THAT(hosted->why(), HasSubstr("the link to the coordinator ended"));
}

TEST_F(AloneOnAMachine, AnActorsProcessWithoutItsNodeEndsForWantOfIt) {
  self.actor_type = "peer";
  self.args = pack(PeerArgs{});
  run(ProcessKind::ACTOR);
  EXPECT_EQ(hosted->exit_code(), kExitLostLease);
  EXPECT_THAT(hosted->why(), HasSubstr("the link to the node ended"));
}

TEST_F(AloneOnAMachine, ItsEndIsToldOnceAndTheFirstCauseStands) {
  self.kind = ProcessKind::ACTOR;
  self.actor_type = "peer";
  self.args = pack(PeerArgs{});
  hosted.emplace(world.launcher(), self, registry);
  ASSERT_TRUE(hosted->start().ok());
  int told = 0;
  hosted->set_on_end([&] { ++told; });
  hosted->lease_lost("the launcher is dead");
  hosted->lease_lost("and more");
  EXPECT_EQ(told, 1);
  EXPECT_EQ(hosted->why(), "the launcher is dead");
  EXPECT_EQ(hosted->exit_code(), kExitLostLease);
}

TEST_F(AloneOnAMachine, WithoutItsAgentItEndsAtOnce) {
  self.kind = ProcessKind::ACTOR;
  self.actor_type = "peer";
  self.args = pack(PeerArgs{});
  hosted.emplace(world.launcher(), self, registry);
  ASSERT_TRUE(hosted->start().ok());
  hosted->process().kill(kAgent, "killed by the test");
  world.loop().run_until([this] { return hosted->ended(); }, world.loop().now() + seconds(60));
  EXPECT_EQ(hosted->exit_code(), kExitFailed);
  EXPECT_EQ(hosted->why(), "its agent failed: killed by the test");
}

TEST_F(HostedProcesses, ArgumentsMayBeJson) {
  ActorSpec spec{"a", "peer", copy_bytes(R"({"total": 40})")};
  spec.args_are_json = true;
  const auto started = cluster.start_actors({spec});
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ(ask(*started->front().actor.as<Peer>(), 2), 42);
  spec.name = "b";
  spec.args = copy_bytes(R"({"tally": 40})");
  const auto wrong = cluster.start_actors({spec});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("there is no 'tally'"));
}

}  // namespace
}  // namespace sterna::test
