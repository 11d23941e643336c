#include "launcher/record/state_holders.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

ClusterFile file_with(bool replicas) {
  ClusterFile file;
  ActorPlan server{.name = "server0", .role = Role::kParameterServer, .host = "a"};
  ActorPlan replica{.name = "server0-replica", .role = Role::kParameterServer, .host = "b"};
  if (replicas) {
    server.partner = replica.name;
    replica.partner = server.name;
    replica.replica = true;
  }
  file.actors = {server, replica, {.name = "worker0", .role = Role::kWorker, .host = "a"}};
  return file;
}

TEST(StateHolders, OneOfTwoServersMayBeLostAgainAndAgain) {
  StateHolders pairs(file_with(true), false);
  for (std::uint64_t i = 1; i < 6; i += 2) {
    EXPECT_EQ(pairs.lost({"server0", i}), "");
    EXPECT_EQ(pairs.lost({"server0", i + 1}), "");  // before it had got its state
    EXPECT_TRUE(pairs.whole({"server0", i + 2}));
    EXPECT_EQ(pairs.lost({"server0-replica", i}), "");
    EXPECT_TRUE(pairs.whole({"server0-replica", i + 1}));
  }
}

TEST(StateHolders, BothAtATimeMayNot) {
  StateHolders pairs(file_with(true), false);
  EXPECT_EQ(pairs.lost({"server0-replica", 1}), "");
  EXPECT_EQ(pairs.lost({"server0", 1}), "server0-replica");
}

TEST(StateHolders, WhatComesLateOrTwiceIsKnown) {
  StateHolders pairs(file_with(true), false);
  EXPECT_EQ(pairs.lost({"server0", 1}), "");
  EXPECT_EQ(pairs.lost({"server0", 2}), "");
  EXPECT_FALSE(pairs.whole({"server0", 2}));  // it said so before it was lost
  EXPECT_EQ(pairs.lost({"server0-replica", 1}), "server0");
  StateHolders again(file_with(true), false);
  EXPECT_EQ(again.lost({"server0", 1}), "");
  EXPECT_TRUE(again.whole({"server0", 2}));
  EXPECT_EQ(again.lost({"server0", 1}), "");  // the next coordinator tells of it, too
  EXPECT_EQ(again.lost({"server0-replica", 1}), "");
}

TEST(StateHolders, WithoutPartnersServersAndWorkersHaveItFromEachOther) {
  ClusterFile file = file_with(false);
  file.actors.push_back({.name = "worker1", .role = Role::kWorker, .host = "b"});
  StateHolders holders(file, true);
  // Both servers; there is no pair.
  EXPECT_EQ(holders.lost({"server0", 1}), "");
  EXPECT_EQ(holders.lost({"server0-replica", 1}), "");
  EXPECT_EQ(holders.lost({"worker1", 1}), "server0");
  for (const char* name : {"server0", "server0-replica", "worker1"}) {
    EXPECT_TRUE(holders.whole({name, 2})) << name;
  }
  EXPECT_EQ(holders.lost({"worker0", 1}), "");
  EXPECT_EQ(holders.lost({"worker1", 2}), "");
  EXPECT_TRUE(holders.whole({"worker1", 3}));
  EXPECT_EQ(holders.lost({"server0", 2}), "worker0");
}

TEST(StateHolders, OthersLoseNothing) {
  StateHolders pairs(file_with(false), false);
  EXPECT_EQ(pairs.lost({"server0", 1}), "");
  EXPECT_EQ(pairs.lost({"server0-replica", 1}), "");
  EXPECT_EQ(pairs.lost({"worker0", 1}), "");
  EXPECT_FALSE(pairs.whole({"worker0", 2}));
}

}  // namespace
}  // namespace sterna::launcher
