// A whole run in one program: launcher, coordinator, node and actors on a virtual clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cluster/cluster.h"
#include "runtime/sim/sim_world.h"
#include "tests/runtime/cluster/cluster_test_actor.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ClusterSim : public testing::Test {
 protected:
  void SetUp() override {
    cluster.set_events({nullptr, [this](const ProcessDown& down) { downs.push_back(down); },
                        [this](const StatusReport& report) { status = report; }});
    const Result<void> started = cluster.start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  void TearDown() override {
    cluster.stop(seconds(1));
    EXPECT_EQ(world.processes(), 0u);
    if (HasFailure()) {
      for (const std::string& line : world.log()) std::printf("  %s\n", line.c_str());
    }
  }
  ActorRef<Peer> spawn(const std::string& name, std::int64_t total = 0) {
    Result<ActorRef<Peer>> peer = cluster.spawn<Peer>(name, "peer", PeerArgs{total, ""});
    EXPECT_TRUE(peer.ok()) << (peer.ok() ? "" : peer.error().message);
    return peer.ok() ? *peer : ActorRef<Peer>{};
  }
  std::int64_t ask(ActorRef<Peer> to, std::int64_t amount) {
    const Result<Balance> balance = cluster.ask(to, Deposit{amount}, seconds(5));
    EXPECT_TRUE(balance.ok()) << (balance.ok() ? "" : balance.error().message);
    return balance.ok() ? balance->value : -1;
  }
  bool reported(const std::string& words) const {
    return std::any_of(world.log().begin(), world.log().end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }
  bool wait(const std::function<bool()>& done, Duration patience) {
    return cluster.run_until(done, world.loop().now() + patience);
  }

  Registry registry = peer_registry();
  SimWorld world{1, registry};
  Cluster cluster{world.launcher(), registry, {}};
  std::vector<ProcessDown> downs;
  StatusReport status;
};

TEST_F(ClusterSim, AnActorStartsInAProcessOfItsOwnAndAnswersTheLauncher) {
  const ActorRef<Peer> peer = spawn("worker-0", 40);
  EXPECT_TRUE(world.lives("worker-0"));
  EXPECT_EQ(ask(peer, 2), 42);
}

TEST_F(ClusterSim, NamesAreFoundFromTheLauncher) {
  spawn("worker-0", 5);
  const Result<ActorRef<Peer>> found = cluster.find<Peer>("worker-0", seconds(1));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(ask(*found, 1), 6);
  const Result<ActorRef<Peer>> nobody = cluster.find<Peer>("nobody", seconds(1));
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().code, Errc::not_found);
}

TEST_F(ClusterSim, ActorsFindAndAskEachOtherWhicheverNameIsLower) {
  const ActorRef<Peer> a = spawn("a", 1);
  const ActorRef<Peer> b = spawn("b", 2);
  EXPECT_EQ(cluster.ask(a, Relay{"b", 10}, seconds(5))->value, 12);
  EXPECT_EQ(cluster.ask(b, Relay{"a", 10}, seconds(5))->value, 11);
  const ActorRef<Peer> c = spawn("c", 3);
  EXPECT_EQ(cluster.ask(c, Relay{"a", 10}, seconds(5))->value, 21);
}

TEST_F(ClusterSim, TwoThatSpeakFirstAtOnceShareOneConnection) {
  const ActorRef<Peer> a = spawn("a");
  const ActorRef<Peer> b = spawn("b");
  Future<Balance> first = cluster.process().ask(a, Relay{"b", 1}, seconds(5));
  Future<Balance> second = cluster.process().ask(b, Relay{"a", 1}, seconds(5));
  ASSERT_TRUE(wait([&] { return first.ready() && second.ready(); }, seconds(5)));
  EXPECT_TRUE(first.take().ok());
  EXPECT_TRUE(second.take().ok());
}

TEST_F(ClusterSim, AFindWaitsForANameThatIsYetToCome) {
  const ActorRef<Peer> a = spawn("a");
  Future<Balance> relayed = cluster.process().ask(a, Relay{"late", 7}, seconds(5));
  EXPECT_FALSE(wait([&] { return relayed.ready(); }, milliseconds(100)));
  spawn("late");
  ASSERT_TRUE(wait([&] { return relayed.ready(); }, seconds(1)));
  EXPECT_EQ(relayed.take()->value, 7);
}

TEST_F(ClusterSim, ANameThatIsTakenIsRefused) {
  spawn("worker-0");
  const Result<ActorRef<Peer>> twin = cluster.spawn<Peer>("worker-0", "peer", PeerArgs{});
  ASSERT_FALSE(twin.ok());
  EXPECT_EQ(twin.error().code, Errc::already_exists);
}

TEST_F(ClusterSim, AnUnknownTypeIsRefusedWithTheKnownOnes) {
  const Result<ActorRef<Peer>> odd = cluster.spawn<Peer>("odd", "paer", PeerArgs{});
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.error().message, AllOf(HasSubstr("'paer'"), HasSubstr("peer")));
}

TEST_F(ClusterSim, AnActorThatFailsAtItsStartSaysWhy) {
  const Result<ActorRef<Peer>> sick =
      cluster.spawn<Peer>("sick", "peer", PeerArgs{0, "no such file: x.idx"});
  ASSERT_FALSE(sick.ok());
  EXPECT_THAT(sick.error().message, HasSubstr("no such file: x.idx"));
  ASSERT_TRUE(cluster.failure().has_value());
  EXPECT_EQ(cluster.failure()->identity.name, "sick");
  EXPECT_EQ(cluster.failure()->exit_code, 1);
}

TEST_F(ClusterSim, WatchersLearnNameIncarnationAndCauseOfAKilledProcess) {
  const ActorRef<Peer> a = spawn("a");
  const ActorRef<Peer> z = spawn("z");
  spawn("m");
  spawn("n");
  for (const auto& [watcher, watched] : {std::pair(a, "m"), std::pair(z, "n")}) {
    Future<Obituary> obituary = cluster.process().ask(watcher, Mourn{watched}, seconds(60));
    EXPECT_FALSE(wait([&] { return obituary.ready(); }, seconds(1)));
    world.kill(watched);
    ASSERT_TRUE(wait([&] { return obituary.ready(); }, seconds(1)));
    const Result<Obituary> read = obituary.take();
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->name, watched);
    EXPECT_EQ(read->incarnation, 1u);
    EXPECT_THAT(read->cause, StartsWith("killed by SIGKILL"));
  }
  ASSERT_TRUE(cluster.failure().has_value());
  EXPECT_EQ(cluster.failure()->identity.name, "m");
  EXPECT_EQ(cluster.failure()->signal, 9);
}

TEST_F(ClusterSim, AFailedActorsCauseReachesThoseWhoWatch) {
  const ActorRef<Peer> a = spawn("a");
  const ActorRef<Peer> b = spawn("b");
  Future<Obituary> obituary = cluster.process().ask(a, Mourn{"b"}, seconds(60));
  EXPECT_FALSE(wait([&] { return obituary.ready(); }, milliseconds(100)));
  cluster.process().tell(b, Fail{"the loss is not finite"});
  ASSERT_TRUE(wait([&] { return obituary.ready(); }, seconds(1)));
  EXPECT_THAT(obituary.take()->cause, HasSubstr("the loss is not finite"));
}

TEST_F(ClusterSim, AProcessThatStandsStillDiesOfSilence) {
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_EQ(cluster.ask(a, Relay{"b", 1}, seconds(5))->value, 1);
  const Time frozen = world.loop().now();
  world.freeze("b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  EXPECT_LT(world.loop().now() - frozen, seconds(7));
  EXPECT_EQ(cluster.failure()->identity.name, "b");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
  EXPECT_FALSE(world.lives("b"));
}

TEST_F(ClusterSim, AStoppedActorIsNoFailure) {
  const ActorRef<Peer> a = spawn("a");
  cluster.process().tell(a, Fail{""});
  ASSERT_TRUE(wait([&] { return !downs.empty(); }, seconds(2)));
  EXPECT_TRUE(downs.front().wanted);
  EXPECT_FALSE(cluster.failure().has_value());
  const ActorRef<Peer> again = spawn("a", 9);
  EXPECT_EQ(ask(again, 0), 9);  // under its second incarnation
}

TEST_F(ClusterSim, StoppingCountsThoseWhoStopAndThoseWhoMustBeKilled) {
  spawn("a");
  spawn("b");
  spawn("c");
  world.freeze("c");
  const StopReport report = cluster.stop(seconds(1));
  EXPECT_EQ(report.stopped, 2u);
  EXPECT_EQ(report.killed, 1u);
  EXPECT_EQ(report.survivors, 0u);
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(ClusterSim, TheDeathOfTheNodeIsTheCauseAndItsActorsAreTheConsequence) {
  spawn("a");
  world.kill("node-localhost");
  ASSERT_TRUE(wait([&] { return downs.size() >= 2; }, seconds(5)));
  ASSERT_TRUE(cluster.failure().has_value());
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("SIGKILL"));
  EXPECT_FALSE(world.lives("a"));
}

TEST_F(ClusterSim, ASilentNodeIsKilledAndNamed) {
  spawn("a");
  world.freeze("node-localhost");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value() && !cluster.failure()->consequence; },
                   seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(ClusterSim, StoppingAtTheFirstDeathStillNamesTheNodeBehindIt) {
  spawn("a");
  world.freeze("node-localhost");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  cluster.stop(seconds(1));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(ClusterSim, WhoEndsForWantOfAnotherIsNotTheCause) {
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

TEST_F(ClusterSim, AnInterruptWhileItStopsEndsTheGrace) {
  spawn("a");
  spawn("b");
  world.freeze("b");
  cluster.interrupt();
  const Time began = world.loop().now();
  world.loop().after(milliseconds(500), [this] { cluster.interrupt(); });
  const StopReport report = cluster.stop(seconds(3600));
  EXPECT_LT(world.loop().now() - began, seconds(1));
  EXPECT_EQ(report.killed, 1u);
  EXPECT_EQ(report.survivors, 0u);
}

TEST_F(ClusterSim, TheDeathOfTheCoordinatorEndsEverything) {
  spawn("a");
  world.kill("coordinator");
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.name, "coordinator");
}

TEST_F(ClusterSim, ALostLauncherEndsEverything) {
  spawn("a");
  world.network().cut("launcher", "coordinator");
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(5)));
}

TEST_F(ClusterSim, ALinkThatIsLostBetweenTwoActorsEndsTheOneThatIsReported) {
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  world.network().cut("a", "b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("link lost"));
}

TEST_F(ClusterSim, StatusArrivesEverySecond) {
  spawn("a");
  ASSERT_TRUE(wait([&] { return status.processes.size() == 2; }, seconds(3)));
  EXPECT_EQ(status.processes[0].identity.name, "node-localhost");
  EXPECT_EQ(status.processes[1].identity.name, "a");
  EXPECT_EQ(status.processes[1].state, "running");
}

TEST_F(ClusterSim, AnExtraPeerIsLetInAndItsFaultsLeaveTheRunAsItWas) {
  const ActorRef<Peer> a = spawn("a");
  Contact extra;
  extra.process = 1000;
  extra.identity = {"zed", 1};
  extra.public_key = "public-zed";
  const Result<Contact> where = cluster.admit_extra("a", extra);
  ASSERT_TRUE(where.ok()) << where.error().message;

  MemoryTransport transport(world.network(), extra.identity, {"public-zed", "", ""});
  struct Nothing : Transport::Events {
    void received(ChannelId, Lane, const PeerIdentity&, InMessage&) override {}
    void closed(ChannelId, std::string_view) override {}
    void noticed(std::string_view) override {}
  } nothing;
  transport.set_events(nothing);
  const Result<ChannelId> channel = transport.dial(Lane::control, *where);
  ASSERT_TRUE(channel.ok());
  const Bytes garbage = copy_bytes(std::as_bytes(std::span("0123456789abcde")));
  const OutFrame frame{garbage.view(), nullptr};
  ASSERT_TRUE(transport.send(*channel, {&frame, 1}).ok());
  wait([] { return false; }, seconds(1));

  const Result<Inspection> counted = cluster.inspect(a.id.process);
  ASSERT_TRUE(counted.ok()) << counted.error().message;
  EXPECT_EQ(counted->decode_errors, 1u);
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_EQ(ask(a, 1), 1);
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

}  // namespace
}  // namespace sterna::test
