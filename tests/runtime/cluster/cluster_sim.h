// A whole run in one program for one test: launcher, coordinator, node and actors on a virtual
// clock.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cluster/cluster.h"
#include "runtime/sim/sim_world.h"
#include "tests/runtime/cluster/cluster_test_actor.h"

namespace sterna::test {

class ClusterSim : public testing::Test {
 protected:
  explicit ClusterSim(ClusterOptions options = {})
      : cluster(world.launcher(), registry, std::move(options)) {}
  void SetUp() override {
    cluster.set_events({.down = [this](const ProcessDown& down) { downs.push_back(down); },
                        .status = [this](const StatusReport& report) { status = report; }});
    const Result<void> started = cluster.start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  void TearDown() override {
    cluster.stop(std::chrono::seconds(1));
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
    const Result<Balance> balance = cluster.ask(to, Deposit{amount}, std::chrono::seconds(5));
    EXPECT_TRUE(balance.ok()) << (balance.ok() ? "" : balance.error().message);
    return balance.ok() ? balance->value : -1;
  }
  template <class I, class M>
  auto ask_agent(ProcessId process, M message) {
    return cluster.ask(agent_of<I>(process), std::move(message), std::chrono::seconds(20));
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
  Cluster cluster;
  std::vector<ProcessDown> downs;
  StatusReport status;
};

}  // namespace sterna::test
