// Hosts that come in the middle of a run, and actors that are moved to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

ClusterOptions with_a_spare_host() {
  ClusterOptions options;
  options.hosts = {{"a"}, {"b"}, {"c"}};
  options.hosts.back().spare = true;
  options.head = "a";
  return options;
}

class CoordinatorHosts : public ClusterSim {
 protected:
  CoordinatorHosts() : ClusterSim(with_a_spare_host()) {
    world.set_on_send([this](const std::string&, const Header& header) {
      if (before_sending) before_sending(header.type_id);
      return Links::Fate{};
    });
  }
  void SetUp() override {
    ClusterSim::SetUp();
    cluster.set_events({.down = [this](const ProcessDown& down) { downs.push_back(down); },
                        .restarts = [this](const ProcessRestarts& one) { restarts.push_back(one); },
                        .host_added = [this](const std::string& host) { added.push_back(host); }});
  }
  void TearDown() override {
    world.set_on_life(nullptr);
    ClusterSim::TearDown();
  }
  /// An actor on b that may be on `elsewhere`; what it is started with says where it is.
  void begin(const std::string& name, const std::vector<std::string>& elsewhere,
             std::uint32_t times = 1, bool needs_kept = false) {
    ActorSpec spec{name, "peer", pack(PeerArgs{100 * 'b', ""}), "b"};
    spec.needs_kept = needs_kept;
    spec.restart = {.times = times};
    for (const std::string& host : elsewhere) {
      spec.elsewhere.push_back({host, pack(PeerArgs{100 * host[0], ""})});
    }
    const auto started = cluster.start_actors({spec});
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  template <class M>
  auto coordinator(M message) {
    return ask_agent<Coordinator>(kCoordinatorProcess, std::move(message));
  }
  char host_of(const std::string& name) {
    Result<Found> found = coordinator(Find{name, seconds(20)});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? static_cast<char>(ask(*found->actor.as<Peer>(), 1) / 100) : ' ';
  }
  /// What the one of this name has kept until now; from here on it is `value`.
  std::int64_t keep(const std::string& name, std::int64_t value) {
    Result<Found> found = coordinator(Find{name, seconds(20)});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    if (!found) return -2;
    auto asked = cluster.ask(*found->actor.as<Peer>(), Keep{value}, seconds(5));
    EXPECT_TRUE(asked.ok());
    return asked ? asked->value : -2;
  }
  Result<void> add(const std::string& host) { return coordinator(AddHost{host, seconds(10)}); }
  std::string why_not(const std::string& host) {
    const Result<void> added_it = add(host);
    return added_it.ok() ? "" : added_it.error().message;
  }

  std::vector<ProcessRestarts> restarts;
  std::vector<std::string> added;
  std::function<void(std::uint64_t type)> before_sending;
  bool struck = false;
};

TEST_F(CoordinatorHosts, AnActorOnAHostThatNobodyHasAddedSaysSoAndTheRunGoesOn) {
  const auto started = cluster.start_actors({{"a", "peer", pack(PeerArgs{}), "c"}});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Errc::not_found);
  EXPECT_EQ(started.error().message, "a cannot start: host \"c\" is not added to the run");
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_TRUE(cluster.start_actors({{"a", "peer", pack(PeerArgs{}), "b"}}).ok());
}

TEST_F(CoordinatorHosts, ASpareOneIsTheRunsOnceItIsAdded) {
  begin("x", {"c"});
  EXPECT_FALSE(world.lives("node-c"));
  EXPECT_THAT(coordinator(Drain{"b", seconds(10)}).error().message,
              HasSubstr("x may be on no other host"));
  EXPECT_THAT(coordinator(Move{"x", "c", seconds(10)}).error().message,
              HasSubstr("\"c\" is none of the run's now"));
  EXPECT_EQ(why_not("c"), "");
  EXPECT_TRUE(world.lives("node-c"));
  EXPECT_THAT(added, ElementsAre("c"));
  EXPECT_THAT(cluster.added_hosts(), ElementsAre("c"));
  EXPECT_EQ(why_not("c"), "") << "it is one already";
  EXPECT_THAT(why_not("d"), HasSubstr("no host \"d\"; it has a, b, c"));
  EXPECT_EQ(host_of("x"), 'b') << "who is well stays";
  const Result<Moved> drained = coordinator(Drain{"b", seconds(10)});
  ASSERT_TRUE(drained.ok()) << drained.error().message;
  EXPECT_THAT(drained->moved, ElementsAre("x to c"));
  EXPECT_EQ(host_of("x"), 'c');
}

TEST_F(CoordinatorHosts, OneThatWasDrainedComesBackAndSoDoActors) {
  begin("x", {"a"});
  ASSERT_TRUE(coordinator(Drain{"b", seconds(10)}).ok());
  ASSERT_TRUE(wait([&] { return !world.lives("node-b"); }, seconds(5)));
  EXPECT_THAT(cluster.drained_hosts(), ElementsAre("b"));
  EXPECT_EQ(why_not("b"), "");
  EXPECT_TRUE(cluster.drained_hosts().empty());
  const Result<Moved> moved = coordinator(Move{"x", "b", seconds(10)});
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  EXPECT_THAT(moved->moved, ElementsAre("x to b"));
  EXPECT_EQ(host_of("x"), 'b');
  EXPECT_EQ(cluster.host_of("x"), "b");
  EXPECT_EQ(restarts.back().down.cause, "it was told to move");
  // Neither counts: its budget of one restart is whole.
  world.kill("x");
  ASSERT_TRUE(wait([&] { return restarts.size() == 3; }, seconds(5)));
  EXPECT_EQ(host_of("x"), 'b');
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorHosts, WhatIsKeptForAnActorComesAlong) {
  begin("x", {"a", "c"}, 5, true);
  begin("y", {"a"}, 5);
  EXPECT_EQ(keep("x", 7), 0);
  EXPECT_EQ(keep("y", 70), 0);
  ASSERT_TRUE(coordinator(Move{"x", "a", seconds(10)}).ok());
  EXPECT_EQ(host_of("x"), 'a');
  EXPECT_EQ(keep("x", 8), 7);
  EXPECT_EQ(world.kept(), 2U) << "where it was it is freed";
  ASSERT_TRUE(coordinator(Move{"x", "b", seconds(10)}).ok());
  EXPECT_EQ(keep("x", 9), 8) << "and not what lay there when it left";
  ASSERT_EQ(why_not("c"), "");
  const Result<Moved> drained = coordinator(Drain{"b", seconds(10)});
  ASSERT_TRUE(drained.ok()) << drained.error().message;
  EXPECT_EQ(keep("x", 10), 9);
  EXPECT_EQ(keep("y", 71), 70);
  // Where it was lost twice it is tried elsewhere, with all that was kept.
  const std::string lost = {host_of("x")};
  for (int i = 0; i < 2; ++i) {
    world.kill("x");
    ASSERT_TRUE(wait([&] { return !world.lives("x"); }, seconds(5)));
    ASSERT_TRUE(wait([&] { return world.lives("x"); }, seconds(5)));
    EXPECT_EQ(keep("x", 11 + i), 10 + i);
  }
  EXPECT_NE(std::string{host_of("x")}, lost);
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorHosts, WithItsHostItIsLostAndWhoNeedsItIsNotStartedAgainWithout) {
  begin("x", {"a"}, 5);
  EXPECT_EQ(keep("x", 7), 0);
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(10)));
  EXPECT_EQ(host_of("x"), 'a');
  EXPECT_EQ(keep("x", 8), 0);
  ASSERT_EQ(why_not("b"), "");
  begin("y", {"a"}, 5, true);
  EXPECT_EQ(keep("y", 70), 0);
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-b");
}

TEST_F(CoordinatorHosts, WhoeverIsLostWhileItIsUnderWayNoOtherBytesAreFound) {
  for (const std::string victim : {"node-a", "node-b", "coordinator"}) {
    for (const bool reads : {true, false}) {
      for (int piece = 1; piece <= 2; ++piece) {
        SCOPED_TRACE(victim + (reads ? " at what is read, " : " at what is written, ") +
                     std::to_string(piece));
        SimWorld there{1, registry};
        Cluster run{there.launcher(), registry, with_a_spare_host()};
        int count = 0;
        there.set_on_send([&](const std::string&, const Header& header) {
          const auto type = reads ? type_id_of<KeptPiece>() : type_id_of<WriteKept>();
          if (header.type_id == type && ++count == piece) there.kill(victim);
          return Links::Fate{};
        });
        ASSERT_TRUE(run.start().ok());
        ActorSpec spec{"x", "peer", pack(PeerArgs{1, ""}), "b"};
        spec.restart = {.times = 5};
        spec.elsewhere.push_back({"a", pack(PeerArgs{2, ""})});
        ASSERT_TRUE(run.start_actors({spec}).ok());
        const auto kept = [&](std::int64_t value) -> std::int64_t {
          for (int i = 0; i < 3; ++i) {  // the answer may be lost with whom we asked
            auto found = run.ask(agent_of<Coordinator>(kCoordinatorProcess), Find{"x", seconds(20)},
                                 seconds(30));
            if (!found) continue;
            const auto asked = run.ask(*found->actor.as<Peer>(), Keep{value}, seconds(5));
            if (asked) return asked->value;
          }
          return -2;
        };
        ASSERT_EQ(kept(7), 0);
        (void)run.ask(agent_of<Coordinator>(kCoordinatorProcess), Move{"x", "a", seconds(10)},
                      seconds(20));
        run.run_until([] { return false; }, there.loop().now() + seconds(20));
        EXPECT_GE(count, piece);
        const std::int64_t found = kept(8);
        if (victim == "node-b") {
          EXPECT_TRUE(found == 0 || found == 7) << found;  // all of it, or nothing
        } else {
          EXPECT_EQ(found, 7);
        }
        EXPECT_FALSE(run.failure().has_value()) << run.failure()->cause;
        run.stop(seconds(1));
      }
    }
  }
}

TEST_F(CoordinatorHosts, OneThatWasLostComesBack) {
  begin("x", {"a"}, 2);
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(10)));
  EXPECT_EQ(host_of("x"), 'a');
  EXPECT_THAT(cluster.lost_hosts(), ElementsAre("b"));
  EXPECT_EQ(why_not("b"), "");
  EXPECT_TRUE(cluster.lost_hosts().empty());
  // And may be lost again.
  ASSERT_TRUE(coordinator(Move{"x", "b", seconds(10)}).ok());
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 3; }, seconds(10)));
  EXPECT_FALSE(cluster.failure().has_value()) << cluster.failure()->cause;
  EXPECT_THAT(cluster.lost_hosts(), ElementsAre("b"));
}

TEST_F(CoordinatorHosts, OneThatDoesNotComeIsNoLoss) {
  begin("x", {"c"});
  bool shut = true;
  world.set_on_life([&](const PeerIdentity& who, const ProcessExit* exit) {
    if (shut && exit == nullptr && who.name == "node-c") {
      world.loop().after(Duration(1), [&] { world.kill("node-c"); });
    }
  });
  EXPECT_THAT(why_not("c"), HasSubstr("node-c is dead: killed by SIGKILL"));
  shut = false;
  world.set_spawn_time(seconds(60));
  const Time began = world.loop().now();
  EXPECT_THAT(coordinator(AddHost{"c", seconds(2)}).error().message,
              HasSubstr("node-c is not ready yet"));
  EXPECT_LE(world.loop().now() - began, seconds(3));
  world.set_spawn_time(Duration(1));
  wait([] { return false; }, seconds(70));
  EXPECT_FALSE(cluster.failure().has_value()) << cluster.failure()->cause;
  EXPECT_TRUE(cluster.lost_hosts().empty());
  EXPECT_TRUE(added.empty());
  EXPECT_EQ(host_of("x"), 'b');
  EXPECT_EQ(why_not("c"), "") << "it may be tried again";
}

TEST_F(CoordinatorHosts, WhoMayNotBeThereStays) {
  begin("x", {"a"});
  ASSERT_EQ(why_not("c"), "");
  EXPECT_THAT(coordinator(Move{"x", "c", seconds(5)}).error().message,
              HasSubstr("x may not be on \"c\""));
  EXPECT_THAT(coordinator(Move{"y", "c", seconds(5)}).error().message, HasSubstr("no actor \"y\""));
  EXPECT_THAT(coordinator(Move{"node-b", "c", seconds(5)}).error().message,
              HasSubstr("no actor \"node-b\""));
  EXPECT_EQ(host_of("x"), 'b');
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorHosts, OneThatCannotBeDrainedInTimeIsKeptByAddingIt) {
  begin("x", {"a"});
  world.set_spawn_time(seconds(5));
  EXPECT_FALSE(coordinator(Drain{"b", seconds(1)}).ok());
  EXPECT_TRUE(world.lives("node-b")) << "who is late may still come from there";
  EXPECT_EQ(why_not("b"), "");
  EXPECT_EQ(host_of("x"), 'a');
  world.set_spawn_time(Duration(1));
  EXPECT_TRUE(coordinator(Move{"x", "b", seconds(10)}).ok());
  EXPECT_EQ(host_of("x"), 'b');
}

TEST_F(CoordinatorHosts, AMoveThatTheCoordinatorDidNotLiveToSeeIsAskedForAgain) {
  begin("x", {"a"});
  before_sending = [&](std::uint64_t type) {
    if (type != type_id_of<EndProcess>() || std::exchange(struck, true)) return;
    world.network().silence("coordinator");  // the order is kept, and does not leave
    world.kill("coordinator");
  };
  EXPECT_FALSE(coordinator(Move{"x", "a", seconds(10)}).ok());
  before_sending = nullptr;
  ASSERT_TRUE(struck);
  ASSERT_TRUE(wait([&] { return world.lives("coordinator"); }, seconds(5)));
  const Result<Moved> moved = coordinator(Move{"x", "a", seconds(10)});
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  EXPECT_EQ(host_of("x"), 'a');
  // That counted against no budget.
  world.kill("x");
  wait([] { return false; }, seconds(5));
  EXPECT_EQ(host_of("x"), 'a');
}

TEST_F(CoordinatorHosts, WhoIsOnHisWayLeavesTheLastHostThatHeMayBeOnWhereItIs) {
  begin("x", {"c"});
  ASSERT_EQ(why_not("c"), "");
  Future<Moved> first = cluster.process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                              Drain{"b", seconds(10)}, seconds(20));
  ASSERT_TRUE(wait([&] { return !restarts.empty(); }, seconds(5)));
  EXPECT_THAT(coordinator(Drain{"c", seconds(10)}).error().message,
              HasSubstr("x may be on no other host"));
  ASSERT_TRUE(wait([&] { return first.ready(); }, seconds(10)));
  EXPECT_TRUE(first.take().ok());
  EXPECT_EQ(host_of("x"), 'c');
}

TEST_F(CoordinatorHosts, WhoWasOnlyBeingStartedThereLeavesADrainedHostToo) {
  begin("x", {"a"});
  world.set_spawn_time(seconds(1));
  world.kill("x");
  ASSERT_TRUE(wait([&] { return reported("starting x again on b"); }, seconds(5)));
  wait([] { return false; }, std::chrono::milliseconds(10));
  const Result<Moved> drained = coordinator(Drain{"b", seconds(10)});
  ASSERT_TRUE(drained.ok()) << drained.error().message;
  EXPECT_THAT(drained->moved, ElementsAre("x to a"));
  EXPECT_EQ(host_of("x"), 'a');
}

TEST_F(CoordinatorHosts, OneComesThoughWhoAskedForItHasGone) {
  begin("x", {"c"});
  bool issued = false;
  before_sending = [&](std::uint64_t type) { issued = issued || type == type_id_of<Bootstrap>(); };
  {
    const Future<void> asked = cluster.process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                                     AddHost{"c", seconds(10)}, seconds(20));
    ASSERT_TRUE(wait([&] { return issued; }, seconds(5)));
  }
  before_sending = nullptr;
  ASSERT_TRUE(wait([&] { return !added.empty(); }, seconds(5)));
  EXPECT_TRUE(coordinator(Move{"x", "c", seconds(10)}).ok());
}

TEST_F(CoordinatorHosts, OfTwoOrdersForOneActorTheLaterCounts) {
  ASSERT_EQ(why_not("c"), "");
  begin("x", {"a", "c"});
  Future<Moved> first = cluster.process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                              Move{"x", "a", seconds(10)}, seconds(20));
  const Result<Moved> second = coordinator(Move{"x", "c", seconds(10)});
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(host_of("x"), 'c');
  ASSERT_TRUE(wait([&] { return first.ready(); }, seconds(10)));
  EXPECT_THAT(first.take().error().message, HasSubstr("x goes to \"c\" instead"));
}

TEST_F(CoordinatorHosts, OneWhoseSupervisorWantsItBackIsDrained) {
  begin("x", {"a"});
  world.tell_to_end("node-b");
  ASSERT_TRUE(wait([&] { return !world.lives("node-b"); }, seconds(10)));
  EXPECT_EQ(host_of("x"), 'a');
  ASSERT_EQ(restarts.size(), 1U);
  EXPECT_EQ(restarts[0].down.cause, "its host is drained");
  EXPECT_THAT(cluster.drained_hosts(), ElementsAre("b"));
  EXPECT_FALSE(cluster.failure().has_value()) << cluster.failure()->cause;
}

TEST_F(CoordinatorHosts, OneWhoseActorsMayBeNowhereElseEndsWithThemWhereItsSupervisorWantsItBack) {
  begin("x", {});
  world.tell_to_end("node-b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  wait([&] { return !cluster.failure()->consequence; }, seconds(5));
  EXPECT_EQ(cluster.failure()->identity.name, "node-b");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("x may be on no other host"));
}

TEST_F(CoordinatorHosts, OneThatIsToldToEndWithTheRunKeepsWhatItHas) {
  begin("x", {"a"});
  cluster.ends_soon();
  world.tell_to_end("node-b");
  wait([] { return false; }, seconds(5));  // a checkpoint takes no longer
  EXPECT_EQ(host_of("x"), 'b');
  EXPECT_TRUE(restarts.empty());
}

TEST_F(CoordinatorHosts, OneWhoseSupervisorCannotWaitEndsAtOnce) {
  begin("x", {"a"});
  world.tell_to_end("node-b");
  world.tell_to_end("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(10)));
  EXPECT_THAT(restarts[0].down.cause, HasSubstr("node-b is gone"));
  EXPECT_EQ(host_of("x"), 'a');
  EXPECT_FALSE(cluster.failure().has_value()) << cluster.failure()->cause;
}

TEST_F(CoordinatorHosts, TheNextCoordinatorKnowsWhoCame) {
  begin("x", {"c", "a"});
  ASSERT_TRUE(coordinator(Drain{"b", seconds(10)}).ok());
  ASSERT_EQ(why_not("c"), "");
  ASSERT_TRUE(wait([&] { return !world.lives("node-b"); }, seconds(5)));
  ASSERT_EQ(why_not("b"), "");
  world.kill("coordinator");
  ASSERT_TRUE(wait([&] { return !world.lives("coordinator"); }, seconds(1)));
  ASSERT_TRUE(wait([&] { return world.lives("coordinator"); }, seconds(5)));
  EXPECT_EQ(why_not("c"), "");
  for (const char* host : {"b", "c"}) {
    const Result<Moved> moved = coordinator(Move{"x", host, seconds(10)});
    ASSERT_TRUE(moved.ok()) << moved.error().message;
    EXPECT_EQ(host_of("x"), host[0]);
  }
}

TEST_F(CoordinatorHosts, WhoseComingTheCoordinatorDidNotLiveToSeeIsAskedForAgain) {
  begin("x", {"c"});
  world.set_on_life([&](const PeerIdentity& who, const ProcessExit* exit) {
    if (who.name != "node-c" || exit != nullptr || std::exchange(struck, true)) return;
    world.loop().after(Duration(1), [&] { world.kill("coordinator"); });
  });
  const Result<void> first = add("c");
  ASSERT_TRUE(struck);
  EXPECT_FALSE(first.ok());
  ASSERT_TRUE(wait([&] { return world.lives("coordinator"); }, seconds(5)));
  EXPECT_EQ(why_not("c"), "");
  EXPECT_TRUE(coordinator(Move{"x", "c", seconds(10)}).ok());
  EXPECT_FALSE(cluster.failure().has_value()) << cluster.failure()->cause;
}

}  // namespace
}  // namespace sterna::test
