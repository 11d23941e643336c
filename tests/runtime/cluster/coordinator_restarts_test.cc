// Actors that are lost and started again, beside the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cluster/process_control.h"
#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class CoordinatorRestarts : public ClusterSim {
 protected:
  void SetUp() override {
    ClusterSim::SetUp();
    cluster.set_events({.down = [this](const ProcessDown& down) { downs.push_back(down); },
                        .restarts =
                            [this](const ProcessRestarts& one) {
                              restarts.push_back(one.down);
                              at.push_back(world.loop().now());
                            }});
  }
  Started begin(const std::string& name, const RestartBudget& budget, std::int64_t total = 0) {
    ActorSpec spec{name, "peer", pack(PeerArgs{total, ""})};
    spec.restart = budget;
    Result<std::vector<Started>> started = cluster.start_actors({spec});
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    return started.ok() ? started->front() : Started{};
  }
  Result<Found> find(const std::string& name, Duration patience = seconds(5)) {
    return ask_agent<Coordinator>(kCoordinatorProcess, Find{name, patience});
  }
  std::vector<ProcessStatus> look() {
    Result<Overview> overview = ask_agent<Coordinator>(kCoordinatorProcess, Look{});
    EXPECT_TRUE(overview.ok());
    return overview.ok() ? overview->members : std::vector<ProcessStatus>{};
  }

  bool any_line(std::string_view words) const {
    return std::ranges::any_of(world.log(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }

  std::vector<ProcessDown> restarts;
  std::vector<Time> at;
};

TEST_F(CoordinatorRestarts, AnActorThatIsKilledIsFoundAsItsNextIncarnation) {
  const Started first = begin("a", {.times = 2}, 40);
  world.kill("a");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(1)));
  const Result<Found> found = find("a");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->incarnation, 2U);
  EXPECT_NE(found->actor.id.process, first.process);
  EXPECT_EQ(ask(*found->actor.as<Peer>(), 2), 42);
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_TRUE(downs.empty());
}

TEST_F(CoordinatorRestarts, WhoAskedIsToldThatTheOldOneIsDownAndReachesTheNewOne) {
  const ActorRef<Peer> asker = spawn("asker");
  begin("b", {.times = 2}, 7);
  ASSERT_TRUE(cluster.ask(asker, Relay{"b", 1}, seconds(5)).ok());
  auto mourning = cluster.process().ask(asker, Mourn{"b"}, seconds(10));
  ASSERT_FALSE(wait([&] { return mourning.ready(); }, seconds(1)));
  world.kill("b");
  ASSERT_TRUE(wait([&] { return mourning.ready(); }, seconds(5)));
  EXPECT_EQ(mourning.take()->incarnation, 1U);
  const Result<Balance> again = cluster.ask(asker, Relay{"b", 1}, seconds(5));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->value, 8);
}

TEST_F(CoordinatorRestarts, WhatWasAskedByNameIsAskedAgainOfTheNextIncarnation) {
  const ActorRef<Peer> asker = spawn("asker");
  begin("b", {.times = 2}, 7);
  ASSERT_TRUE(cluster.ask(asker, RelayAgain{"b", 1}, seconds(5)).ok());
  world.freeze("b");
  auto answer = cluster.process().ask(asker, RelayAgain{"b", 2}, seconds(20));
  ASSERT_FALSE(wait([&] { return answer.ready(); }, milliseconds(500)));
  world.kill("b");
  ASSERT_TRUE(wait([&] { return answer.ready(); }, seconds(5)));
  const Result<Balance> balance = answer.take();
  ASSERT_TRUE(balance.ok()) << balance.error().message;
  EXPECT_EQ(balance->value, 9) << "the next one begins with 7";
  EXPECT_EQ(find("b")->incarnation, 2U);
  EXPECT_TRUE(downs.empty());
}

TEST_F(CoordinatorRestarts, AfterItsBudgetTheRunFailsWithTheFirstAndTheLastCause) {
  begin("a", {.times = 2});
  for (std::size_t i = 1; i <= 2; ++i) {
    world.kill("a");
    ASSERT_TRUE(wait([&] { return restarts.size() == i; }, seconds(5)));
    ASSERT_TRUE(find("a").ok());
  }
  world.kill("a");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.incarnation, 3U);
  EXPECT_THAT(cluster.failure()->cause,
              AllOf(HasSubstr("SIGKILL"), HasSubstr("after 2 restarts of it within 10m"),
                    HasSubstr("first lost: killed by SIGKILL")));
  EXPECT_EQ(find("a").error().code, Errc::actor_down);
}

TEST_F(CoordinatorRestarts, RestartsThatAreLongAgoDoNotCount) {
  begin("a", {.times = 1, .within = seconds(30)});
  for (std::size_t i = 1; i <= 3; ++i) {
    world.kill("a");
    ASSERT_TRUE(wait([&] { return restarts.size() == i; }, seconds(5)));
    ASSERT_TRUE(find("a").ok());
    wait([] { return false; }, seconds(31));
  }
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorRestarts, BeforeEachRestartItWaitsTwiceAsLong) {
  begin("a", {.times = 10, .backoff = seconds(1)});
  std::vector<Duration> took;
  for (std::size_t i = 1; i <= 6; ++i) {
    world.kill("a");
    ASSERT_TRUE(wait([&] { return restarts.size() == i; }, seconds(5)));
    ASSERT_TRUE(find("a", seconds(20)).ok());
    took.push_back(world.loop().now() - at.back());
  }
  for (std::size_t i = 0; i < took.size(); ++i) {
    const Duration pause = std::min<Duration>(seconds(1) * (1 << i), seconds(10));
    EXPECT_GE(took[i], pause);
    EXPECT_LE(took[i], pause + milliseconds(500));
  }
}

TEST_F(CoordinatorRestarts, TheNextIncarnationHasTheMemoryOfTheOneBefore) {
  begin("a", {.times = 2});
  begin("b", {.times = 2});
  const auto keep = [&](const std::string& name, std::int64_t value) {
    const Result<Found> found = find(name);
    EXPECT_TRUE(found.ok());
    auto asked = cluster.ask(*found->actor.as<Peer>(), Keep{value}, seconds(5));
    EXPECT_TRUE(asked.ok());
    return asked ? asked->value : -2;
  };
  EXPECT_EQ(keep("a", 7), 0);
  EXPECT_EQ(keep("b", 8), 0);
  for (std::size_t i = 1; i <= 2; ++i) {
    world.kill("a");
    ASSERT_TRUE(wait([&] { return restarts.size() == i; }, seconds(1)));
    EXPECT_EQ(keep("a", 7), 7);
  }
  EXPECT_EQ(keep("b", 9), 8);
}

TEST_F(CoordinatorRestarts, TheMemoryOfWhoEndsForGoodIsFreed) {
  begin("a", {.times = 1});
  begin("b", {});
  EXPECT_EQ(world.kept(), 2U);
  world.kill("a");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(1)));
  ASSERT_TRUE(find("a").ok());
  EXPECT_EQ(world.kept(), 2U);
  world.kill("a");
  EXPECT_TRUE(wait([&] { return world.kept() == 1; }, seconds(1)));
}

TEST_F(CoordinatorRestarts, WhoFailsByHimselfWouldFailAgain) {
  begin("a", {.times = 5});
  cluster.process().tell(*find("a")->actor.as<Peer>(), Fail{"the loss is no number"});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->cause, "the loss is no number");
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorRestarts, WhoBrokeTheRulesWouldBreakThemAgain) {
  const Started started = begin("a", {.times = 5});
  const Contact contact{started.process.value, {"a", 1}, "", "", "", ""};
  cluster.process().tell(agent_of<Coordinator>(kCoordinatorProcess),
                         LinkReport{kLauncherProcess, contact, "it lied", true});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->cause, "it lied");
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorRestarts, OneThatIsSilentIsEndedAndStartedAgain) {
  begin("a", {.times = 5});
  world.freeze("a");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(10)));
  EXPECT_THAT(restarts[0].cause, HasSubstr("silence"));
}

TEST_F(CoordinatorRestarts, OneThatIsLostWhileItStartsIsStartedOnceMore) {
  begin("a", {.times = 5});
  world.kill("a");
  ASSERT_TRUE(wait([&] { return world.lives("a") && restarts.size() == 1; }, seconds(5)));
  world.kill("a");
  ASSERT_TRUE(wait([&] { return restarts.size() == 2; }, seconds(5)));
  const Result<Found> found = find("a");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->incarnation, 3U);
}

TEST_F(CoordinatorRestarts, OfALostLinkTheEndThatCanComeAgainGoes) {
  spawn("a");
  begin("b", {.times = 5});
  ASSERT_TRUE(cluster.ask(*find("b")->actor.as<Peer>(), Relay{"a", 1}, seconds(5)).ok());
  world.network().set_parted("a", "b", true);
  world.network().cut("a", "b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(40)));
  EXPECT_EQ(restarts[0].identity.name, "b");
  EXPECT_THAT(restarts[0].cause, HasSubstr("its link with a ended"));
  wait([] { return false; }, seconds(5));
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorRestarts, OfALostLinkTheEndThatMostDoNotReachGoesThoughItCannotComeAgain) {
  const ActorRef<Peer> a = spawn("a");
  for (const char* name : {"b", "c", "d", "e"}) {
    begin(name, {.times = 5});
    ASSERT_TRUE(cluster.ask(a, Relay{name, 1}, seconds(5)).ok());
  }
  for (const char* name : {"b", "c", "d"}) {
    world.network().set_parted("a", name, true);
    world.network().cut("a", name);
  }
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(40)));
  EXPECT_EQ(cluster.failure()->identity.name, "a");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("link lost"));
  wait([] { return false; }, seconds(5));
  EXPECT_TRUE(restarts.empty()) << restarts[0].identity.name << " went instead of a, or too";
}

TEST_F(CoordinatorRestarts, WhoFailsForWantOfALinkThatItIsEndedForComesAgain) {
  spawn("a");
  begin("b", {.times = 5});
  const ActorRef<Peer> b = *find("b")->actor.as<Peer>();
  ASSERT_TRUE(cluster.ask(b, Relay{"a", 1}, seconds(5)).ok());
  world.network().set_parted("a", "b", true);
  world.network().cut("a", "b");
  // Its node lets it live for a second more, to hear of a better cause.
  ASSERT_TRUE(wait([&] { return any_line("reports about"); }, seconds(40)));
  cluster.process().tell(b, Fail{"a does not answer"});
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, milliseconds(500)));
  EXPECT_EQ(restarts[0].exit_code, 1);
  EXPECT_THAT(restarts[0].cause, HasSubstr("its link with a ended"));
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorRestarts, WhoEndsBecauseItsNodeDoesNotAnswerComesAgain) {
  begin("a", {.times = 5});
  // It is stopped for less than the silence, and its link with its node is reset meanwhile: the
  // node does not wait for it to dial again, and lets it in no more.
  world.freeze("a");
  world.network().cut("a", "node-localhost");
  wait([] { return false; }, milliseconds(1800));
  world.thaw("a");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(5)));
  EXPECT_EQ(restarts[0].exit_code, kExitLostLease);
  EXPECT_EQ(restarts[0].cause, "link lost: the connection was cut");
  EXPECT_TRUE(find("a").ok());
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorRestarts, WithItsNodeItIsGoneForGood) {
  begin("a", {.times = 5});
  world.kill("node-localhost");
  ASSERT_TRUE(
      wait([&] { return cluster.failure() && !cluster.failure()->consequence; }, seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorRestarts, WhoLooksSeesOneOfEachNameAndThatItIsStartedAgain) {
  begin("a", {.times = 5, .backoff = seconds(1)});
  const auto state_of_a = [&] {
    std::vector<std::string> states;
    for (const ProcessStatus& member : look()) {
      if (member.identity.name == "a") {
        states.push_back(member.identity.text() + " " + member.state);
      }
    }
    return states;
  };
  world.kill("a");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(5)));
  EXPECT_THAT(state_of_a(), testing::ElementsAre("a#1 restarting"));
  ASSERT_TRUE(find("a").ok());
  EXPECT_THAT(state_of_a(), testing::ElementsAre("a#2 running"));
}

TEST_F(CoordinatorRestarts, WithoutABudgetADeathIsTheEnd) {
  spawn("a");
  world.kill("a");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorRestarts, WhoEndsForWantOfOneThatIsDeadForGoodIsNoCause) {
  begin("x", {.times = 0});
  begin("y", {.times = 5});
  world.kill("x");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  world.kill("y");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(5)));
  // The next one has never had a link to it, nor been told.
  const Result<Found> found = find("y");
  ASSERT_TRUE(found.ok()) << found.error().message;
  const ActorRef<Peer> y = *found->actor.as<Peer>();
  const auto relayed = cluster.ask(y, Relay{"x", 1}, seconds(5));
  ASSERT_FALSE(relayed.ok());
  cluster.process().tell(y, Fail{relayed.error().message});
  ASSERT_TRUE(wait([&] { return downs.size() == 2; }, seconds(5)));
  EXPECT_EQ(downs[1].identity.text(), "y#2");
  EXPECT_TRUE(downs[1].consequence);
  EXPECT_EQ(cluster.failure()->identity.text(), "x#1");
}

}  // namespace
}  // namespace sterna::test
