// The agent of a host: it starts, watches and ends the processes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

using NodeTest = ClusterSim;

TEST_F(NodeTest, AProcessThatStandsStillDiesOfSilence) {
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

TEST_F(NodeTest, WatchersLearnNameIncarnationAndCauseOfAKilledProcess) {
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

TEST_F(NodeTest, StoppingCountsThoseWhoStopAndThoseWhoMustBeKilled) {
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

TEST_F(NodeTest, StatusArrivesEverySecond) {
  spawn("a");
  ASSERT_TRUE(wait([&] { return status.processes.size() == 2; }, seconds(3)));
  EXPECT_EQ(status.processes[0].identity.name, "node-localhost");
  EXPECT_EQ(status.processes[1].identity.name, "a");
  EXPECT_EQ(status.processes[1].state, "running");
}

TEST_F(NodeTest, AProcessWhoseLinkHasEndedIsWhatItLastSaid) {
  spawn("a");
  const auto report = [&] {
    status = {};
    EXPECT_TRUE(wait([&] { return status.processes.size() == 2; }, seconds(3)));
    return status.processes.back();
  };
  while (report().bytes_in == 0) ASSERT_FALSE(HasFailure());
  wait([] { return false; }, milliseconds(500));  // to the middle between two reports
  world.network().set_parted("a", "node-localhost", true);
  world.network().cut("a", "node-localhost");
  const ProcessStatus after = report();
  EXPECT_EQ(after.state, "running");
  EXPECT_GT(after.bytes_in, 0U);
}

TEST_F(NodeTest, OnlyTheCoordinatorGivesItOrders) {
  StartProcess order;
  order.bootstrap.process = {50};
  order.bootstrap.identity = {"intruder", 1};
  const ProcessId node = *cluster.process_of("node-localhost");
  // Who gives it one is heard no more, and gets no answer.
  EXPECT_EQ(ask_agent<Node>(node, order).error().code, Errc::actor_down);
  EXPECT_TRUE(reported("launcher#1 is muted: only the coordinator gives orders"));
  EXPECT_FALSE(world.lives("intruder"));
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(NodeTest, ItSpeaksForItsOwnProcessesOnly) {
  const ProcessId node = *cluster.process_of("node-localhost");
  EXPECT_EQ(ask_agent<Node>(node, Find{"a", seconds(1)}).error().code, Errc::actor_down);
  EXPECT_TRUE(reported("launcher#1 is muted: it is no process of this node's"));
}

TEST_F(NodeTest, OfWhatAProcessSaysOfItsEndItHandsOnNoMoreThanAFailuresWords) {
  cluster.process().tell(spawn("a"), Fail{std::string(1U << 20, 'x')});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  EXPECT_EQ(cluster.failure()->cause, std::string(4096, 'x'));
}

/// Those who look for another, from when their node asks the coordinator for it.
class NodeQuests : public NodeTest {
 protected:
  void SetUp() override {
    world.set_on_send([this](const std::string& who, const Header& header) {
      if (who == "node-localhost" && header.type_id == type_id_of<Find>()) ++asked;
      return Links::Fate{};
    });
    NodeTest::SetUp();
  }
  Future<Balance> look(const std::string& by, const std::string& name) {
    return cluster.process().ask(spawn(by), Relay{name, 1}, seconds(20));
  }
  int asked = 0;
};

TEST_F(NodeQuests, WhomManyOfAHostLookForTheCoordinatorIsAskedForOnce) {
  std::vector<Future<Balance>> found;
  for (int i = 0; i < 20; ++i) found.push_back(look("a" + std::to_string(i), "late"));
  EXPECT_FALSE(wait([&] { return found.back().ready(); }, seconds(1)));
  EXPECT_EQ(asked, 1);
  spawn("late", 40);
  ASSERT_TRUE(
      wait([&] { return std::ranges::all_of(found, &Future<Balance>::ready); }, seconds(5)));
  for (Future<Balance>& each : found) EXPECT_TRUE(each.take().ok());
  EXPECT_EQ(asked, 1);
  // Who looks later is told who has the name then.
  EXPECT_EQ(ask(spawn("b"), 0), 0);
  EXPECT_EQ(cluster.ask(spawn("c"), Relay{"late", 1}, seconds(5))->value, 61);
  EXPECT_EQ(asked, 2);
}

TEST_F(NodeQuests, EachWaitsAsLongAsItsOwnPatience) {
  const Time began = world.loop().now();
  Future<Balance> first = look("a", "nobody");
  wait([] { return false; }, seconds(2));
  Future<Balance> second = look("b", "nobody");
  ASSERT_TRUE(wait([&] { return first.ready(); }, seconds(10)));
  EXPECT_GE(world.loop().now() - began, seconds(5));
  EXPECT_LT(world.loop().now() - began, milliseconds(5500));
  EXPECT_FALSE(second.ready());
  ASSERT_TRUE(wait([&] { return second.ready(); }, seconds(10)));
  EXPECT_GE(world.loop().now() - began, seconds(7));
  EXPECT_LT(world.loop().now() - began, milliseconds(7500));
  for (Future<Balance>* each : {&first, &second}) {
    const Result<Balance> answer = each->take();
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().message, HasSubstr("nobody is called 'nobody'"));
  }
}

TEST_F(NodeQuests, WhoWaitsLongIsAskedForAnewAndFoundAtOnce) {
  Future<Balance> first = look("a", "late");
  wait([] { return false; }, seconds(4));
  Future<Balance> second = look("b", "late");
  wait([] { return false; }, seconds(2));  // the first has given up
  EXPECT_TRUE(first.ready());
  spawn("late", 1);
  ASSERT_TRUE(wait([&] { return second.ready(); }, milliseconds(500)));
  EXPECT_EQ(second.take()->value, 2);
}

TEST_F(NodeTest, WhereTheRunKeepsNoFilesThereAreNone) {
  ReadFile question;
  question.process = *cluster.process_of("node-localhost");
  question.name = "a.log";
  const Result<FilePiece> piece = cluster.read_file(question);
  EXPECT_EQ(piece.error().code, Errc::not_found);
  EXPECT_THAT(piece.error().message, HasSubstr("keeps no files"));
}

TEST_F(NodeTest, ItsEndIsThatOfItsProcessesWhenTheCoordinatorGivesItUp) {
  spawn("a");
  world.network().set_parted("coordinator", "node-localhost", true);
  world.network().cut("coordinator", "node-localhost");
  ASSERT_TRUE(wait([&] { return !world.lives("node-localhost"); }, seconds(20)));
  EXPECT_FALSE(world.lives("a"));
  EXPECT_TRUE(reported("the coordinator is lost: link lost"));
}

}  // namespace
}  // namespace sterna::test
