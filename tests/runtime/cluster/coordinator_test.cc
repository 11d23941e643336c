// The directory, identities, and bringing processes together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

using CoordinatorTest = ClusterSim;

TEST_F(CoordinatorTest, ActorsFindAndAskEachOtherWhicheverNameIsLower) {
  const ActorRef<Peer> a = spawn("a", 1);
  const ActorRef<Peer> b = spawn("b", 2);
  EXPECT_EQ(cluster.ask(a, Relay{"b", 10}, seconds(5))->value, 12);
  EXPECT_EQ(cluster.ask(b, Relay{"a", 10}, seconds(5))->value, 11);
  const ActorRef<Peer> c = spawn("c", 3);
  EXPECT_EQ(cluster.ask(c, Relay{"a", 10}, seconds(5))->value, 21);
}

TEST_F(CoordinatorTest, TwoThatSpeakFirstAtOnceShareOneConnection) {
  const ActorRef<Peer> a = spawn("a");
  const ActorRef<Peer> b = spawn("b");
  Future<Balance> first = cluster.process().ask(a, Relay{"b", 1}, seconds(5));
  Future<Balance> second = cluster.process().ask(b, Relay{"a", 1}, seconds(5));
  ASSERT_TRUE(wait([&] { return first.ready() && second.ready(); }, seconds(5)));
  EXPECT_TRUE(first.take().ok());
  EXPECT_TRUE(second.take().ok());
}

TEST_F(CoordinatorTest, AFindWaitsForANameThatIsYetToCome) {
  const ActorRef<Peer> a = spawn("a");
  Future<Balance> relayed = cluster.process().ask(a, Relay{"late", 7}, seconds(5));
  EXPECT_FALSE(wait([&] { return relayed.ready(); }, milliseconds(100)));
  spawn("late");
  ASSERT_TRUE(wait([&] { return relayed.ready(); }, seconds(1)));
  EXPECT_EQ(relayed.take()->value, 7);
}

TEST_F(CoordinatorTest, ANameThatIsTakenIsRefused) {
  spawn("worker-0");
  const Result<ActorRef<Peer>> twin = cluster.spawn<Peer>("worker-0", "peer", PeerArgs{});
  ASSERT_FALSE(twin.ok());
  EXPECT_EQ(twin.error().code, Errc::already_exists);
}

TEST_F(CoordinatorTest, AnExtraPeerIsLetInAndItsFaultsLeaveTheRunAsItWas) {
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
    void closed(ChannelId, std::string_view, bool) override {}
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

TEST_F(CoordinatorTest, ANameThatCannotBeAFilesIsRefused) {
  for (const std::string& name : {std::string(), std::string("../worker"), std::string(".worker"),
                                  std::string("a b"), std::string(65, 'w')}) {
    const auto spawned = cluster.spawn<Peer>(name, "peer", PeerArgs{});
    EXPECT_EQ(spawned.error().code, Errc::invalid_argument) << name;
    EXPECT_THAT(spawned.error().message, HasSubstr("cannot name a process"));
  }
  spawn(std::string(64, 'w'));
}

TEST_F(CoordinatorTest, ANameOfTheRunsOwnProcessesIsRefusedAndTheRunGoesOn) {
  for (const std::string name : {"coordinator", "launcher", "node-localhost", "node-b"}) {
    const auto spawned = cluster.spawn<Peer>(name, "peer", PeerArgs{});
    EXPECT_EQ(spawned.error().code, Errc::invalid_argument) << name;
    EXPECT_THAT(spawned.error().message, HasSubstr("cannot name an actor"));
  }
  EXPECT_EQ(ask(spawn("nodes"), 1), 1);
}

TEST_F(CoordinatorTest, AnActorOfAnotherInterfaceThanIsAskedForIsEndedAndTheRunGoesOn) {
  const auto other = cluster.spawn<Agent>("a", "peer", PeerArgs{});
  EXPECT_EQ(other.error().code, Errc::invalid_argument);
  EXPECT_EQ(other.error().message,
            "a did not start: actors of type peer have another interface than its starter asks "
            "for");
  EXPECT_TRUE(wait([&] { return !world.lives("a"); }, seconds(5)));
  EXPECT_EQ(ask(spawn("a"), 1), 1);
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorTest, AnActorOnAHostThatIsNotOfTheRunSaysSo) {
  const auto started = cluster.start_actors({{"a", "peer", pack(PeerArgs{}), "elsewhere"}});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Errc::not_found);
  EXPECT_EQ(started.error().message,
            "a cannot start: host \"elsewhere\" is none of the run's, which are localhost");
  EXPECT_TRUE(cluster.spawn<Peer>("a", "peer", PeerArgs{}).ok());
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorTest, AnActorThatIsNotReadyInTimeIsEnded) {
  world.set_spawn_time(seconds(60));
  const auto started = cluster.spawn<Peer>("a", "peer", PeerArgs{});
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().message, HasSubstr("not ready in time"));
  EXPECT_TRUE(wait([&] { return !world.lives("a"); }, seconds(10)));
}

TEST_F(CoordinatorTest, TheLaunchersOwnActorsAreFoundByTheirNames) {
  const auto own = cluster.process().spawn<PeerActor>(PeerArgs{7, ""});
  ASSERT_TRUE(cluster.publish("board", own).ok());
  EXPECT_EQ(cluster.publish("board", own).error().code, Errc::already_exists);
  EXPECT_EQ(cluster.publish("a board", own).error().code, Errc::invalid_argument);
  EXPECT_EQ(cluster.publish("nothing", AnyRef()).error().code, Errc::invalid_argument);
  const ActorRef<Peer> z = spawn("z");
  EXPECT_EQ(cluster.ask(z, Relay{"board", 1}, seconds(5))->value, 8);
}

TEST_F(CoordinatorTest, NobodyIsBroughtTogetherWithItselfOrWithNobody) {
  EXPECT_EQ(ask_agent<Coordinator>(kCoordinatorProcess, Connect{{}, kLauncherProcess}).error().code,
            Errc::not_found);
  EXPECT_EQ(ask_agent<Coordinator>(kCoordinatorProcess, Connect{{}, {999}}).error().code,
            Errc::not_found);
}

TEST_F(CoordinatorTest, AnExtraPeerMustNotBeSomebodyElse) {
  spawn("a");
  Contact extra;
  extra.process = 1000;
  extra.identity = {"a", 2};
  EXPECT_EQ(cluster.admit_extra("a", extra).error().code, Errc::already_exists);
  extra.identity.name = "zed";
  EXPECT_EQ(cluster.admit_extra("nobody", extra).error().code, Errc::not_found);
}

TEST_F(CoordinatorTest, AProcessThatIsNoneCannotBeInspected) {
  EXPECT_EQ(cluster.inspect({999}).error().code, Errc::not_found);
  EXPECT_TRUE(cluster.inspect(kCoordinatorProcess).ok());
  EXPECT_TRUE(cluster.inspect(*cluster.process_of("node-localhost")).ok());
}

TEST_F(CoordinatorTest, OnlyANodeSaysWhatANodeSays) {
  Ready ready;
  ready.contact.process = kLauncherProcess.value;
  const auto said = ask_agent<Coordinator>(kCoordinatorProcess, ready);
  EXPECT_EQ(said.error().code, Errc::actor_down);  // who says it is heard no more
  EXPECT_TRUE(reported("launcher#1 is muted: only a node may say this"));
}

}  // namespace
}  // namespace sterna::test
