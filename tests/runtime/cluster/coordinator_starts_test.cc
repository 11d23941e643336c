// Starts of many actors, and of large ones: whatever they are started with, they start, and come
// again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::Each;
using testing::HasSubstr;

ClusterOptions hosts_a_and_b() {
  ClusterOptions options;
  options.hosts = {{"a"}, {"b"}};
  options.head = "a";
  return options;
}

class CoordinatorStarts : public ClusterSim {
 protected:
  CoordinatorStarts() : ClusterSim(hosts_a_and_b()) {}
  void SetUp() override {
    ClusterSim::SetUp();
    cluster.set_events({.restarts = [this](const ProcessRestarts& one) {
      if (one.down.identity.name != "coordinator") hosts.push_back(one.host);
    }});
  }
  /// As large as that, and what it is started with says where it is.
  static Bytes args_at(char host, std::size_t bytes) {
    return pack(PeerArgs{.total = 100 * host, .fail_with = "", .until = std::string(bytes, 'x')});
  }
  /// On a, and on b once that is lost.
  static ActorSpec large(const std::string& name, std::size_t bytes) {
    ActorSpec spec{name, "peer", args_at('a', bytes), "a"};
    spec.restart.times = 3;
    spec.elsewhere.push_back({"b", args_at('b', bytes)});
    return spec;
  }
  char host_of(const std::string& name) {
    Result<Found> found = ask_agent<Coordinator>(kCoordinatorProcess, Find{name, seconds(20)});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? static_cast<char>(ask(*found->actor.as<Peer>(), 1) / 100) : ' ';
  }

  std::vector<std::string> hosts;
};

TEST_F(CoordinatorStarts, ManyThatAreMoreThanALinkTakesAtOnceStartAndMoveTogether) {
  constexpr std::size_t kActors = 60;
  constexpr std::size_t kBytes = 200'000;  // with those of b 24 MB; a link takes 8 at once
  std::vector<ActorSpec> specs;
  for (std::size_t i = 0; i < kActors; ++i) specs.push_back(large("s" + std::to_string(i), kBytes));
  const auto started = cluster.start_actors(specs);
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ(started->size(), kActors);
  world.kill("node-a");
  ASSERT_TRUE(wait([&] { return hosts.size() == kActors; }, seconds(30)));
  EXPECT_THAT(hosts, Each("b"));
  for (std::size_t i = 0; i < kActors; ++i) EXPECT_EQ(host_of("s" + std::to_string(i)), 'b');
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_FALSE(reported("already wait"));
}

TEST_F(CoordinatorStarts, WhatALargeOneIsStartedFromOutlivesTheCoordinator) {
  constexpr std::size_t kBytes = 2'200'000;  // both together are more than a frame of control
  const auto started = cluster.start_actors({large("s", kBytes)});
  ASSERT_TRUE(started.ok()) << started.error().message;
  const auto lose_node = [&](const std::string& node, const std::string& host) {
    const std::size_t before = hosts.size();
    world.kill(node);
    return wait([&] { return hosts.size() > before && hosts.back() == host; }, seconds(20));
  };
  const auto lose_coordinator = [&] {
    const std::optional<PeerIdentity> lost = world.living("coordinator");
    world.kill("coordinator");
    return wait([&] { return world.lives("coordinator") && world.living("coordinator") != lost; },
                seconds(10));
  };
  ASSERT_TRUE(lose_coordinator());
  EXPECT_EQ(host_of("s"), 'a');
  ASSERT_TRUE(lose_node("node-a", "b"));
  EXPECT_EQ(host_of("s"), 'b');
  // The next one knows that it has moved.
  ASSERT_TRUE(lose_coordinator());
  world.kill("s");
  ASSERT_TRUE(wait([&] { return hosts.size() == 2; }, seconds(20)));
  EXPECT_EQ(hosts.back(), "b");
  EXPECT_EQ(host_of("s"), 'b');
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorStarts, OneOfWhichMoreIsToldThanCanBeKeptIsRefusedAndTheRunGoesOn) {
  ActorSpec spec = large("s", 4'000'000);
  while (spec.elsewhere.size() < 16) spec.elsewhere.push_back(spec.elsewhere.back());
  const Time began = world.loop().now();
  const auto started = cluster.start_actors({spec});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Errc::invalid_argument);
  EXPECT_THAT(
      started.error().message,
      HasSubstr("s cannot be started: what it is started from, here and elsewhere, takes "));
  EXPECT_LT(world.loop().now() - began, seconds(1));
  EXPECT_EQ(ask(spawn("t"), 1), 1);
  EXPECT_FALSE(world.lives("s"));
}

TEST_F(CoordinatorStarts, OneThatIsStartedAnewIsWhatItWasToldLast) {
  const auto started = cluster.start_actors({large("s", 0)});
  ASSERT_TRUE(started.ok()) << started.error().message;
  cluster.process().tell(*started->front().actor.as<Peer>(), Fail{"it has had enough"});
  ASSERT_TRUE(wait([&] { return !world.lives("s"); }, seconds(5)));
  ActorSpec again = large("s", 0);
  again.host = "b";
  again.args = args_at('z', 0);
  again.elsewhere.clear();
  Future<Started> second = cluster.process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                                 StartActor{.name = again.name,
                                                            .type = again.type,
                                                            .args = again.args,
                                                            .host = again.host,
                                                            .patience = seconds(5),
                                                            .environment = {},
                                                            .restart = again.restart},
                                                 seconds(10));
  ASSERT_TRUE(wait([&] { return second.ready(); }, seconds(10)));
  ASSERT_TRUE(second.take().ok());
  world.kill("s");
  ASSERT_TRUE(wait([&] { return hosts.size() == 1; }, seconds(10)));
  EXPECT_EQ(host_of("s"), 'z') << "not what the one before was told";
}

}  // namespace
}  // namespace sterna::test
