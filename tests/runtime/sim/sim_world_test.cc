#include "runtime/sim/sim_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A coordinator is a process that needs nobody.
class SimWorlds : public testing::Test {
 protected:
  static Bootstrap coordinator() {
    Bootstrap b;
    b.kind = ProcessKind::COORDINATOR;
    b.process = {1};
    b.identity = {"coordinator", 1};
    return b;
  }
  std::int64_t spawn(const Bootstrap& told) {
    Spawner::Callbacks callbacks;
    callbacks.on_contact = [this](const Contact& listens) { contact = listens; };
    callbacks.on_exit = [this](const ProcessExit& how) { exit = how; };
    const Result<std::int64_t> pid = world.launcher().spawner().spawn(told, std::move(callbacks));
    EXPECT_TRUE(pid.ok()) << pid.error().message;
    return pid ? *pid : -1;
  }
  void pass(Duration time) {
    world.loop().run_until([] { return false; }, world.loop().now() + time);
  }

  Registry registry;
  SimWorld world{1, registry};
  std::optional<Contact> contact;
  std::optional<ProcessExit> exit;
};

TEST_F(SimWorlds, AProcessRunsAfterItsSpawnTimeAndSaysWhereItListens) {
  world.set_spawn_time(5s);
  spawn(coordinator());
  pass(4s);
  EXPECT_FALSE(contact.has_value());
  pass(2s);
  ASSERT_TRUE(contact.has_value());
  EXPECT_EQ(contact->control_endpoint, "memory://coordinator#1");
  EXPECT_TRUE(world.lives("coordinator"));
}

TEST_F(SimWorlds, AKillIsSeenByWhoeverSpawned) {
  const std::int64_t pid = spawn(coordinator());
  pass(1s);
  world.launcher().spawner().kill(pid);
  EXPECT_FALSE(exit.has_value());  // not from within
  pass(1s);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGKILL);
  EXPECT_EQ(world.processes(), 0U);
}

TEST_F(SimWorlds, WhatCannotStartExitsAndItsLogSaysWhy) {
  spawn(coordinator());
  pass(1s);
  contact.reset();
  spawn(coordinator());
  pass(1s);
  EXPECT_FALSE(contact.has_value());
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 1);
  EXPECT_THAT(world.log().back(), HasSubstr("coordinator: coordinator cannot listen"));
}

TEST_F(SimWorlds, WhatAChildIsToldHasTravelled) {
  Bootstrap told = coordinator();
  told.silence = told.heartbeat;  // no process reads such a thing
  EXPECT_FALSE(world.launcher().spawner().spawn(told, {}).ok());
}

TEST_F(SimWorlds, WhoIsFrozenHearsOfWhatCameOnceItIsThawed) {
  world.set_job_time([](const std::string&) { return Duration(10ms); });
  spawn(coordinator());
  pass(1s);
  std::vector<std::string> life;
  world.set_on_life([&](const PeerIdentity& who, const ProcessExit* end) {
    life.push_back(who.text() + (end == nullptr ? " comes" : " goes"));
  });
  world.freeze("coordinator");
  EXPECT_EQ(world.living("coordinator"), (PeerIdentity{"coordinator", 1}));
  pass(60s);
  world.thaw("coordinator");
  pass(1s);
  EXPECT_TRUE(world.lives("coordinator"));
  world.freeze("coordinator");
  world.kill("coordinator");
  pass(1s);
  // Who has the name next is not frozen.
  contact.reset();
  spawn(coordinator());
  pass(1s);
  EXPECT_TRUE(contact.has_value());
  EXPECT_THAT(life, testing::ElementsAre("coordinator#1 goes", "coordinator#1 comes"));
}

TEST_F(SimWorlds, ASweepFindsWhoIsLeft) {
  spawn(coordinator());
  pass(1s);
  EXPECT_EQ(world.launcher().sweep(0), 1U);
  EXPECT_EQ(world.launcher().sweep(0), 0U);
}

TEST_F(SimWorlds, RandomnessAndKeysAreFunctionsOfTheSeed) {
  SimWorld same(1, registry);
  SimWorld other(2, registry);
  const std::uint64_t drawn = world.launcher().random().next();
  EXPECT_EQ(same.launcher().random().next(), drawn);
  EXPECT_NE(other.launcher().random().next(), drawn);
  EXPECT_EQ(world.launcher().keys().issue()->token, same.launcher().keys().issue()->token);
}

}  // namespace
}  // namespace sterna::test
