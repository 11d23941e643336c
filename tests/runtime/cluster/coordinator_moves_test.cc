// Actors whose host is lost, and where they are started again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

ClusterOptions three_hosts() {
  ClusterOptions options;
  options.hosts = {{"a"}, {"b"}, {"c"}};
  options.head = "a";
  return options;
}

class CoordinatorMoves : public ClusterSim {
 protected:
  CoordinatorMoves() : ClusterSim(three_hosts()) {}
  void SetUp() override {
    ClusterSim::SetUp();
    cluster.set_events(
        {.down = [this](const ProcessDown& down) { downs.push_back(down); },
         .restarts = [this](const ProcessRestarts& one) { restarts.push_back(one); }});
  }
  /// An actor on b that may be on `elsewhere`; what it is started with says where it is.
  void begin(const std::string& name, const std::vector<std::string>& elsewhere,
             std::uint32_t times = 5) {
    ActorSpec spec{name, "peer", pack(PeerArgs{100 * 'b', ""}), "b"};
    spec.restart = {.times = times};
    for (const std::string& host : elsewhere) {
      spec.elsewhere.push_back({host, pack(PeerArgs{100 * host[0], ""})});
    }
    const auto started = cluster.start_actors({spec});
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  /// Of the one that is found by this name now.
  char host_of(const std::string& name) {
    Result<Found> found = ask_agent<Coordinator>(kCoordinatorProcess, Find{name, seconds(20)});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? static_cast<char>(ask(*found->actor.as<Peer>(), 1) / 100) : ' ';
  }

  std::vector<ProcessRestarts> restarts;
};

TEST_F(CoordinatorMoves, WithItsHostAnActorIsLostAndComesAgainOnAnother) {
  begin("x", {"c"});
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(10)));
  EXPECT_EQ(restarts[0].down.host, "b");
  EXPECT_EQ(restarts[0].host, "c");
  EXPECT_THAT(restarts[0].down.cause, HasSubstr("node-b is gone"));
  EXPECT_EQ(host_of("x"), 'c');
  EXPECT_EQ(cluster.host_of("x"), "c");
  wait([] { return false; }, seconds(10));
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_EQ(cluster.lost_hosts(), std::vector<std::string>{"b"});
}

TEST_F(CoordinatorMoves, WhatARunCanDoWithoutEndsWithItsHostAndTheRunGoesOn) {
  std::vector<std::string> without;
  bool may = true;
  cluster.set_events({.down = [this](const ProcessDown& down) { downs.push_back(down); },
                      .goes_on_without =
                          [&](ProcessDown& down) {
                            without.push_back(down.identity.name);
                            if (!may) down.cause += ", and nobody else is left";
                            return may;
                          },
                      .restarts = [this](const ProcessRestarts& one) { restarts.push_back(one); }});
  begin("x", {});
  begin("y", {}, 0);
  world.kill("x");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(10)));
  EXPECT_EQ(host_of("x"), 'b') << "it comes again";
  world.kill("y");
  ASSERT_TRUE(wait([&] { return without == std::vector<std::string>{"y"}; }, seconds(10)));
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return without.size() == 2; }, seconds(10)));
  EXPECT_EQ(without.back(), "x");
  wait([] { return false; }, seconds(10));
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_EQ(cluster.lost_hosts(), std::vector<std::string>{"b"});
  may = false;
  ActorSpec spec{"z", "peer", pack(PeerArgs{0, ""}), "c"};
  ASSERT_TRUE(cluster.start_actors({spec}).ok());
  world.kill("z");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  EXPECT_THAT(cluster.failure()->cause, testing::EndsWith(", and nobody else is left"));
}

TEST_F(CoordinatorMoves, WhoIsOnlyOutOfReachIsFollowedWhenItsLeaseHasEnded) {
  struct Way {
    bool deaf, mute;
  };
  for (const Way way : {Way{true, true}, Way{true, false}, Way{false, true}}) {
    SCOPED_TRACE(way.deaf ? way.mute ? "both ways" : "it hears nobody" : "nobody hears it");
    bool told = false;
    std::vector<std::string> lives;
    std::vector<Time> when;
    SimWorld there{1, registry};
    Cluster run{there.launcher(), registry, three_hosts()};
    run.set_events({.down = nullptr, .restarts = [&](const ProcessRestarts&) { told = true; }});
    ASSERT_TRUE(run.start().ok());
    ActorSpec spec{"x", "peer", pack(PeerArgs{0, ""}), "b"};
    spec.restart = {.times = 5};
    spec.elsewhere.push_back({"c", pack(PeerArgs{0, ""})});
    ASSERT_TRUE(run.start_actors({spec}).ok());
    there.set_on_life([&](const PeerIdentity& who, const ProcessExit* exit) {
      if (who.name != "x") return;
      lives.push_back((exit == nullptr ? "+" : "-") + who.text());
      when.push_back(there.loop().now());
    });
    const Time began = there.loop().now();
    there.set_isolated("b", way.deaf, way.mute);
    const auto until = [&](const std::function<bool()>& done) {
      return run.run_until(done, there.loop().now() + seconds(30));
    };
    ASSERT_TRUE(until([&] { return told; }));
    EXPECT_LE(there.loop().now() - began, seconds(7)) << "it is known at once";
    ASSERT_TRUE(until([&] { return lives.size() == 2; }));
    EXPECT_THAT(lives, testing::ElementsAre("-x#1", "+x#2"));
    // Its lease was last granted a quarter of it ago at most; where it is only deaf it is granted
    // until it gives up the coordinator itself.
    const Duration lease = three_hosts().lease;
    EXPECT_GE(when[1] - began, lease * 3 / 4);
    EXPECT_LE(when[1] - began, lease + seconds(way.mute ? 1 : 8));
    EXPECT_FALSE(run.failure().has_value());
    there.set_isolated("b", false, false);
    run.stop(seconds(1));
    EXPECT_EQ(there.processes(), 0U);
  }
}

TEST_F(CoordinatorMoves, WhetherItWasStartedIsNotKnownWhereNobodyAnswers) {
  begin("x", {"c"});
  std::vector<std::string> twins;
  std::map<std::string, PeerIdentity> living;
  world.set_on_life([&](const PeerIdentity& who, const ProcessExit* exit) {
    if (exit != nullptr) {
      living.erase(who.name);
    } else if (!living.emplace(who.name, who).second) {
      twins.push_back(who.text());
    }
  });
  world.kill("x");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(5)));
  // The order to start the next one comes there, its answer does not come back.
  world.set_isolated("b", false, true);
  ASSERT_TRUE(wait([&] { return world.lives("x"); }, seconds(5)));
  ASSERT_TRUE(
      wait([&] { return living.contains("x") && living["x"].incarnation > 2; }, seconds(60)));
  EXPECT_THAT(twins, testing::IsEmpty());
  EXPECT_EQ(host_of("x"), 'c');
  world.set_isolated("b", false, false);
  world.set_on_life(nullptr);
}

TEST_F(CoordinatorMoves, TheyGoWhereTheFewestAre) {
  ActorSpec there{"other", "peer", pack(PeerArgs{0, ""}), "a"};
  ASSERT_TRUE(cluster.start_actors({there}).ok());
  for (const char* name : {"x", "y", "z"}) begin(name, {"a", "c"});
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 3; }, seconds(10)));
  for (const char* name : {"x", "y", "z"}) host_of(name);
  std::string hosts;
  for (const ProcessRestarts& one : restarts) hosts += one.host;
  EXPECT_EQ(hosts, "cac");
}

TEST_F(CoordinatorMoves, OnOneHostTwiceAndThenOnTheNext) {
  begin("x", {"c"}, 6);
  std::string hosts;
  for (std::size_t i = 1; i <= 5; ++i) {
    world.kill("x");
    ASSERT_TRUE(wait([&] { return restarts.size() == i; }, seconds(5)));
    hosts += host_of("x");
  }
  EXPECT_EQ(hosts, "bccbb");
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorMoves, WhereNoOtherHostIsTheRunFailsByTheHost) {
  begin("x", {"c"});
  world.kill("node-c");
  ASSERT_FALSE(wait([&] { return cluster.failure().has_value(); }, seconds(10)))
      << "nobody was on c";
  world.kill("node-b");
  ASSERT_TRUE(
      wait([&] { return cluster.failure() && !cluster.failure()->consequence; }, seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-b");
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorMoves, OneThatMayNotMoveEndsTheRunThatOthersWouldHaveGoneOnIn) {
  begin("x", {"c"});
  begin("y", {});
  world.kill("node-b");
  ASSERT_TRUE(
      wait([&] { return cluster.failure() && !cluster.failure()->consequence; }, seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-b");
}

TEST_F(CoordinatorMoves, AHostThatIsLostWhileTheyStartThereIsLeftToo) {
  begin("x", {"c", "a"});
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return world.log().back().find("starting x again") != std::string::npos; },
                   seconds(10)));
  world.kill("node-c");
  ASSERT_TRUE(wait([&] { return restarts.size() == 2; }, seconds(20)));
  EXPECT_EQ(host_of("x"), 'a');
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorMoves, AHostThatOnlyTheCoordinatorDoesNotReachIsLeftByTheNames) {
  begin("x", {"c"});
  const ActorRef<Peer> asker = spawn("asker");
  ASSERT_TRUE(cluster.ask(asker, Relay{"x", 1}, seconds(5)).ok());
  world.freeze("node-b");  // its actor lives, and is still dialled by nobody
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(20)));
  EXPECT_EQ(host_of("x"), 'c');
  const Result<Balance> balance = cluster.ask(asker, Relay{"x", 1}, seconds(5));
  ASSERT_TRUE(balance.ok()) << balance.error().message;
  EXPECT_EQ(balance->value / 100, 'c') << "who knew the old one reaches the new one";
}

// ---- a host is given up ----

TEST_F(CoordinatorMoves, AHostIsDrainedAndItsActorsAreElsewhereThen) {
  for (const char* name : {"x", "y"}) begin(name, {"c", "a"}, 1);
  const Result<Moved> drained =
      ask_agent<Coordinator>(kCoordinatorProcess, Drain{"b", seconds(10)});
  ASSERT_TRUE(drained.ok()) << drained.error().message;
  EXPECT_THAT(drained->moved, testing::ElementsAre("x to c", "y to a"));
  EXPECT_EQ(host_of("x"), 'c');
  EXPECT_TRUE(wait([&] { return !world.lives("node-b"); }, seconds(5)));
  EXPECT_EQ(cluster.drained_hosts(), std::vector<std::string>{"b"});
  EXPECT_TRUE(cluster.lost_hosts().empty());
  EXPECT_FALSE(cluster.failure().has_value());
  // Their budget of one restart is whole.
  world.kill("x");
  ASSERT_TRUE(wait([&] { return restarts.size() == 3; }, seconds(5)));
  EXPECT_EQ(host_of("x"), 'c');
  const Result<Moved> again = ask_agent<Coordinator>(kCoordinatorProcess, Drain{"b", seconds(10)});
  EXPECT_THAT(again.error().message, HasSubstr("\"b\" is drained already"));
}

TEST_F(CoordinatorMoves, AHostWithOneThatMayBeNowhereElseStaysAsItIs) {
  begin("x", {"c"});
  begin("y", {});
  const Result<Moved> drained =
      ask_agent<Coordinator>(kCoordinatorProcess, Drain{"b", seconds(10)});
  ASSERT_FALSE(drained.ok());
  EXPECT_THAT(drained.error().message, HasSubstr("y may be on no other host"));
  EXPECT_EQ(host_of("x"), 'b');
  EXPECT_TRUE(restarts.empty());
  EXPECT_THAT(ask_agent<Coordinator>(kCoordinatorProcess, Drain{"z", seconds(1)}).error().message,
              HasSubstr("\"z\" is none of the run's"));
}

}  // namespace
}  // namespace sterna::test
