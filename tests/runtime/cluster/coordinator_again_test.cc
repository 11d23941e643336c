// The coordinator is lost and comes again: nobody else ends for want of it, and what it knew is
// known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "runtime/cluster/connected_process.h"
#include "runtime/cluster/process_control.h"
#include "tests/runtime/cluster/cluster_sim.h"
#include "tests/sanitized.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Of many moments each so manieth.
constexpr int kSparse = kSanitized ? 5 : 1;

ClusterOptions two_hosts() {
  ClusterOptions options;
  options.hosts = {{"a"}, {"b"}};
  options.head = "a";
  return options;
}

class CoordinatorAgain : public ClusterSim {
 protected:
  explicit CoordinatorAgain(ClusterOptions options = two_hosts())
      : ClusterSim(std::move(options)) {}
  void SetUp() override {
    ClusterSim::SetUp();
    cluster.set_events({.down = [this](const ProcessDown& down) { downs.push_back(down); },
                        .status = [this](const StatusReport& report) { status = report; },
                        .restarts =
                            [this](const ProcessRestarts& one) {
                              restarts.push_back(one.down.identity.text());
                              hosts.push_back(one.host);
                              causes.push_back(one.down.cause);
                            },
                        .coordinator = [this](const Contact& told) { contacts.push_back(told); }});
  }
  ActorRef<Peer> begin(const std::string& name, const std::string& host = "a",
                       const std::vector<std::string>& elsewhere = {}) {
    ActorSpec spec{name, "peer", pack(PeerArgs{0, ""}), host};
    spec.restart = {.times = 5, .within = within};
    for (const std::string& other : elsewhere) {
      spec.elsewhere.push_back({other, pack(PeerArgs{0, ""})});
    }
    const auto started = cluster.start_actors({spec});
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    return started.ok() ? *started->front().actor.as<Peer>() : ActorRef<Peer>{};
  }
  std::optional<PeerIdentity> coordinator() const { return world.living("coordinator"); }
  /// Until that incarnation of it has been dialled by the launcher and has dialled all nodes.
  bool is_there(std::uint64_t incarnation) {
    const bool there = wait(
        [&] {
          return contacts.size() + 1 == incarnation &&
                 cluster.process().links()->connected(kCoordinatorProcess);
        },
        seconds(20));
    return there && cluster.inspect(*cluster.process_of("node-b")).ok();
  }
  void kill_coordinator() {
    world.kill("coordinator");
    const std::optional<PeerIdentity> killed = coordinator();
    EXPECT_TRUE(wait([&] { return coordinator() != killed; }, milliseconds(1)));
  }
  Result<Found> find(const std::string& name) {
    return ask_agent<Coordinator>(kCoordinatorProcess, Find{name, seconds(10)});
  }
  /// Nobody ends of what has happened.
  void expect_calm() {
    EXPECT_FALSE(wait([&] { return cluster.failure().has_value(); }, seconds(30)))
        << describe(*cluster.failure());
    EXPECT_TRUE(world.lives("node-a"));
    EXPECT_TRUE(world.lives("node-b"));
  }

  Duration within = RestartBudget{}.within;
  std::vector<std::string> restarts;
  std::vector<std::string> hosts;
  std::vector<std::string> causes;
  std::vector<Contact> contacts;
};

/// Losses count for a second: the budgets are not what this is about.
class CoordinatorAgainAndAgain : public CoordinatorAgain {
 protected:
  CoordinatorAgainAndAgain() : CoordinatorAgain(soon_forgotten()) { within = seconds(1); }
  static ClusterOptions soon_forgotten() {
    ClusterOptions options = two_hosts();
    options.coordinator_restarts.within = seconds(1);
    return options;
  }
  void forget_losses() {
    wait([] { return false; }, seconds(2));
  }
};

TEST_F(CoordinatorAgain, KilledItComesAgainAndKnowsWhatItKnew) {
  const ActorRef<Peer> a = spawn("x", 40);
  begin("y", "b");
  kill_coordinator();
  EXPECT_EQ(ask(a, 2), 42) << "nobody needs it for this";
  ASSERT_TRUE(is_there(2));
  EXPECT_THAT(restarts, testing::ElementsAre("coordinator#1"));
  EXPECT_THAT(causes[0], HasSubstr("SIGKILL"));
  EXPECT_EQ(contacts[0].identity.text(), "coordinator#2");
  const Result<Found> found = find("x");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->actor.id, a.id);
  const Result<Overview> overview = ask_agent<Coordinator>(kCoordinatorProcess, Look{});
  ASSERT_TRUE(overview.ok());
  std::vector<std::string> members;
  for (const ProcessStatus& one : overview->members) {
    EXPECT_EQ(one.state, "running") << one.identity.text();
    members.push_back(one.identity.text());
  }
  EXPECT_THAT(members,
              testing::UnorderedElementsAre("coordinator#2", "node-a#1", "node-b#1", "x#1", "y#1"));
  expect_calm();
  EXPECT_TRUE(downs.empty());
}

TEST_F(CoordinatorAgain, ItStartsActorsAgainAsTheOneBeforeWouldHave) {
  begin("x", "a", {"b"});
  for (std::size_t i = 1; i <= 5; ++i) {
    world.kill("x");
    ASSERT_TRUE(wait([&] { return restarts.size() == 2 * i - 1; }, seconds(20)));
    ASSERT_EQ(find("x")->incarnation, i + 1);
    kill_coordinator();
    ASSERT_TRUE(is_there(i + 1));
  }
  // Twice on a, then twice on b, as if it had been one coordinator; and one more for good.
  EXPECT_THAT(hosts, testing::ElementsAre("a", "a", "b", "a", "b", "a", "a", "a", "a", "a"));
  world.kill("x");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(20)));
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("after 5 restarts of it within 10m"));
}

TEST_F(CoordinatorAgain, WhoDiesWhileItIsAwayIsStartedAgainAfterwards) {
  begin("x", "b");
  kill_coordinator();
  world.kill("x");
  ASSERT_TRUE(wait([&] { return !world.lives("x"); }, milliseconds(1)));
  ASSERT_TRUE(is_there(2));
  const Result<Found> found = find("x");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->incarnation, 2U);
  EXPECT_EQ(restarts, (std::vector<std::string>{"coordinator#1", "x#1"}));
  EXPECT_THAT(causes[1], HasSubstr("SIGKILL"));
  expect_calm();
}

TEST_F(CoordinatorAgainAndAgain, LostAtAnyMomentOfARestartTheActorIsThereOnceAfterwards) {
  begin("x", "b");
  begin("y", "a");
  // The whole restart takes a fifth of a second and something.
  std::uint64_t incarnation = 1;
  for (int ms = 0; ms < 240; ms += 3) {
    const std::uint64_t before = world.living("x")->incarnation;
    world.kill("x");
    wait([] { return false; }, milliseconds(ms));
    kill_coordinator();
    ASSERT_TRUE(is_there(++incarnation)) << ms;
    ASSERT_TRUE(find("x").ok()) << ms;
    ASSERT_GT(world.living("x")->incarnation, before) << ms;
    ASSERT_LE(world.living("x")->incarnation, before + 2) << ms;
    EXPECT_EQ(find("y")->incarnation, 1U);
    forget_losses();
    ASSERT_FALSE(cluster.failure().has_value()) << ms << ": " << describe(*cluster.failure());
  }
}

TEST_F(CoordinatorAgainAndAgain, LostWhileTwoAreIntroducedTheyMeetAfterwards) {
  std::uint64_t incarnation = 1;
  for (int us = 0; us < 12000; us += 500) {
    const std::string name = "x" + std::to_string(us);
    const ActorRef<Peer> asker = begin(name, "a");
    begin("other" + name, "b");
    auto answer = cluster.process().ask(asker, Relay{"other" + name, 1}, seconds(20));
    wait([] { return false; }, std::chrono::microseconds(us));
    kill_coordinator();
    ASSERT_TRUE(wait([&] { return answer.ready(); }, seconds(20)));
    const Result<Balance> balance = answer.take();
    ASSERT_TRUE(balance.ok()) << us << ": " << balance.error().message;
    EXPECT_EQ(balance->value, 1);
    ASSERT_TRUE(is_there(++incarnation));
    forget_losses();
  }
}

TEST_F(CoordinatorAgain, TheActorsOfAHostThatIsLostMeanwhileMove) {
  begin("x", "b", {"a"});
  kill_coordinator();
  world.kill("node-b");
  ASSERT_TRUE(wait([&] { return restarts.size() == 2; }, seconds(5)));
  const Result<Found> found = find("x");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->incarnation, 2U);
  EXPECT_EQ(hosts.back(), "a");
  wait([] { return false; }, seconds(20));
  EXPECT_FALSE(cluster.failure().has_value());
  EXPECT_EQ(cluster.lost_hosts(), std::vector<std::string>{"b"});
}

TEST_F(CoordinatorAgain, ANodeThatIsLostMeanwhileEndsARunThatCannotDoWithoutIt) {
  begin("x", "b");
  kill_coordinator();
  world.kill("node-b");
  ASSERT_TRUE(
      wait([&] { return cluster.failure() && !cluster.failure()->consequence; }, seconds(20)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-b");
}

TEST_F(CoordinatorAgainAndAgain, LostAgainAtAnyMomentOfItsStartTheNextOneTakesOver) {
  begin("x", "b");
  std::uint64_t incarnation = 1;
  for (int us = 0; us < 24000; us += 500) {
    kill_coordinator();
    ASSERT_TRUE(wait([&] { return coordinator().has_value(); }, seconds(5)));
    wait([] { return false; }, std::chrono::microseconds(us));
    const std::uint64_t killed = coordinator()->incarnation;
    EXPECT_EQ(killed, ++incarnation);
    kill_coordinator();
    ASSERT_TRUE(wait([&] { return coordinator().has_value(); }, seconds(5)));
    ++incarnation;
    ASSERT_TRUE(wait([&] { return cluster.coordinator().identity.incarnation == incarnation; },
                     seconds(5)));
    ASSERT_TRUE(cluster.inspect(*cluster.process_of("node-b")).ok()) << us;
    ASSERT_TRUE(find("x").ok());
    forget_losses();
    ASSERT_FALSE(cluster.failure().has_value()) << us << ": " << describe(*cluster.failure());
  }
  EXPECT_EQ(find("x")->incarnation, 1U);
}

TEST_F(CoordinatorAgain, ASilentOneIsKilledAndFollowed) {
  begin("x", "b");
  world.freeze("coordinator");
  ASSERT_TRUE(is_there(2));
  EXPECT_THAT(causes[0], StartsWith("silence"));
  EXPECT_EQ(find("x")->incarnation, 1U);
  expect_calm();
}

TEST_F(CoordinatorAgain, WhoAskEachOtherNeverWaitForIt) {
  const ActorRef<Peer> x = begin("x");
  begin("y", "b");
  ASSERT_TRUE(cluster.ask(x, RelayAgain{"y", 1}, seconds(5)).ok());  // now they have met
  for (const bool killed : {true, false}) {
    const std::size_t before = contacts.size();
    killed ? world.kill("coordinator") : world.freeze("coordinator");
    int asked = 0;
    for (; contacts.size() == before && asked < 1000; ++asked) {
      const Time asks = world.loop().now();
      const Result<Balance> answer = cluster.ask(x, RelayAgain{"y", 1}, seconds(5));
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      ASSERT_LT(world.loop().now() - asks, milliseconds(1)) << asked;
      wait([] { return false; }, milliseconds(10));
    }
    EXPECT_GT(asked, killed ? 10 : 400) << "it was not away for as long as that";
    ASSERT_TRUE(is_there(before + 2));
  }
  EXPECT_EQ(restarts, (std::vector<std::string>{"coordinator#1", "coordinator#2"}));
}

TEST_F(CoordinatorAgain, OneThatTheLauncherDoesNotReachAnyMoreIsFollowedToo) {
  begin("x", "b");
  world.network().set_parted("launcher", "coordinator", true);
  world.network().cut("launcher", "coordinator");
  ASSERT_TRUE(wait([&] { return restarts.size() == 1; }, seconds(5)));
  world.network().set_parted("launcher", "coordinator", false);
  ASSERT_TRUE(is_there(2));
  EXPECT_EQ(find("x")->incarnation, 1U);
  expect_calm();
}

TEST_F(CoordinatorAgain, LostTooOftenItEndsTheRun) {
  for (std::uint64_t i = 1; i <= 5; ++i) {
    kill_coordinator();
    ASSERT_TRUE(is_there(i + 1));
  }
  kill_coordinator();
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.text(), "coordinator#6");
  EXPECT_THAT(cluster.failure()->cause,
              AllOf(HasSubstr("SIGKILL"), HasSubstr("after 5 restarts of it within 10m"),
                    HasSubstr("first lost: killed by SIGKILL")));
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(20))) << "no lease outlives it";
}

TEST_F(CoordinatorAgain, WithTheKeyOfOneThatWasLostNobodyIsLetIn) {
  kill_coordinator();
  ASSERT_TRUE(is_there(2));
  // The launcher's keys were the first that were issued, the coordinator's the second.
  Bootstrap self;
  self.kind = ProcessKind::COORDINATOR;
  self.process = kCoordinatorProcess;
  self.identity = {"coordinator", 1};
  self.run = cluster.run();
  self.credentials = {"public-2", "secret-2", "token-2"};
  const auto stranger = ConnectedProcess::make(world.launcher(), self, registry.schema_hash());
  ASSERT_TRUE(stranger.ok()) << stranger.error().message;
  const std::string endpoint = "memory://node-b#1";
  const ProcessId node = *cluster.process_of("node-b");
  (*stranger)->links().dial({node.value, {"node-b", 1}, endpoint, endpoint, "", ""});
  EXPECT_FALSE(wait([&] { return (*stranger)->links().connected(node); }, seconds(5)));
  EXPECT_TRUE(reported("coordinator#1 was denied"));
  EXPECT_TRUE(cluster.inspect(node).ok());
}

TEST_F(CoordinatorAgain, WhatPublishesAndWhoIsExpectedOutlivesIt) {
  const ActorRef<Peer> own = cluster.process().spawn<PeerActor>(PeerArgs{7, ""});
  ASSERT_TRUE(cluster.publish("own", own).ok());
  cluster.allow_faults();
  cluster.report(copy_bytes(std::string_view("all is well")));
  kill_coordinator();
  ASSERT_TRUE(is_there(2));
  const ActorRef<Peer> asker = begin("x", "b");
  const Result<Balance> balance = cluster.ask(asker, Relay{"own", 1}, seconds(5));
  ASSERT_TRUE(balance.ok()) << balance.error().message;
  EXPECT_EQ(balance->value, 8);
  const Result<Overview> overview = ask_agent<Coordinator>(kCoordinatorProcess, Look{});
  ASSERT_TRUE(overview.ok());
  EXPECT_TRUE(overview->faults_allowed);
  EXPECT_EQ(overview->report.size(), 11U);
}

TEST_F(CoordinatorAgain, StoppedWhileItIsAwayTheRunEndsPolitely) {
  begin("x", "b");
  kill_coordinator();
  const StopReport report = cluster.stop(seconds(5));
  EXPECT_EQ(report.stopped, 1U);
  EXPECT_EQ(report.killed, 0U);
}

/// A run that loses its coordinator before all is there.
struct EarlyLoss {
  explicit EarlyLoss(ClusterOptions options = two_hosts())
      : cluster(world.launcher(), registry, std::move(options)) {
    cluster.set_events({.down =
                            [this](const ProcessDown& down) {
                              if (!down.wanted) deaths.push_back(describe(down));
                            },
                        .restarts =
                            [this](const ProcessRestarts& one) {
                              if (one.down.identity.name == "coordinator") ++losses;
                            }});
  }
  void kill_at(Duration when) {
    world.loop().after(when, [this] { world.kill("coordinator"); });
  }
  Result<void> start() {
    STERNA_TRY(cluster.start());
    std::vector<ActorSpec> specs;
    for (const auto& [name, host, total] :
         {std::tuple("x", "a", 10), std::tuple("y", "b", 20), std::tuple("z", "b", 30)}) {
      specs.push_back({name, "peer", pack(PeerArgs{total, ""}), host});
    }
    specs[0].restart = {.times = 5};
    specs[0].elsewhere.push_back({"b", pack(PeerArgs{10, ""})});
    specs[1].restart = {.times = 5};
    STERNA_ASSIGN(started, cluster.start_actors(specs));
    return {};
  }

  Registry registry = peer_registry();
  SimWorld world{1, registry};
  Cluster cluster;
  std::vector<Started> started;
  std::vector<std::string> deaths;
  int losses = 0;
};

TEST(CoordinatorLostEarly, AtAnyMomentOfTheStartTheRunStartsAllTheSame) {
  int lost_at_the_start = 0;
  for (const int twice : {0, 1}) {
    for (int us = 250; us < 50000; us += kSparse * (250 + 600 * twice)) {
      EarlyLoss run;
      run.kill_at(std::chrono::microseconds(us));
      if (twice != 0) run.kill_at(std::chrono::microseconds(us) + milliseconds(230));
      const Result<void> began = run.start();
      ASSERT_TRUE(began.ok()) << us << ": " << began.error().message;
      lost_at_the_start += run.losses;
      for (std::size_t i = 0; i < run.started.size(); ++i) {
        const auto total =
            run.cluster.ask(*run.started[i].actor.as<Peer>(), Deposit{1}, seconds(5));
        ASSERT_TRUE(total.ok()) << us << ": " << total.error().message;
        EXPECT_EQ(total->value, 10 * static_cast<std::int64_t>(i + 1) + 1);
      }
      run.cluster.run_until([&] { return run.cluster.failure().has_value(); },
                            run.world.loop().now() + seconds(30));
      ASSERT_FALSE(run.cluster.failure()) << us << ": " << describe(*run.cluster.failure());
      EXPECT_THAT(run.deaths, testing::IsEmpty()) << us;
      // The launcher, the coordinator, two nodes and three actors, each once.
      EXPECT_EQ(run.world.processes(), 6U) << us;
      // It moves, and comes again, as ever.
      run.world.kill("x");
      const Result<ActorRef<Peer>> again = [&]() -> Result<ActorRef<Peer>> {
        const auto gone = [&] { return !run.world.lives("x"); };
        run.cluster.run_until(gone, run.world.loop().now() + seconds(1));
        return run.cluster.find<Peer>("x", seconds(5));
      }();
      ASSERT_TRUE(again.ok()) << us << ": " << again.error().message;
      const StopReport report = run.cluster.stop(seconds(1));
      EXPECT_EQ(report.stopped, 3U) << us;
      EXPECT_EQ(run.world.processes(), 0U) << us;
    }
  }
  EXPECT_GT(lost_at_the_start, 150 / kSparse) << "else all of this was about nothing";
}

TEST(CoordinatorLostEarly, TooOftenTheRunDoesNotStartAndSaysWhy) {
  ClusterOptions options = two_hosts();
  options.coordinator_restarts.times = 1;
  EarlyLoss run(options);
  run.kill_at(milliseconds(25));
  run.kill_at(milliseconds(500));
  run.world.set_spawn_time(milliseconds(200));
  const Result<void> began = run.start();
  ASSERT_FALSE(began.ok());
  EXPECT_THAT(began.error().message, HasSubstr("coordinator"));
  EXPECT_THAT(began.error().message, HasSubstr("SIGKILL"));
}

class NeverAgain : public CoordinatorAgain {
 protected:
  NeverAgain() : CoordinatorAgain(options()) {}
  static ClusterOptions options() {
    ClusterOptions all = two_hosts();
    all.coordinator_restarts.times = 0;
    return all;
  }
};

TEST_F(NeverAgain, WhereItMayNotComeAgainItsEndIsTheRunsAtOnce) {
  begin("x", "b");
  world.kill("coordinator");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(1)));
  EXPECT_EQ(cluster.failure()->identity.name, "coordinator");
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(3)));
}

}  // namespace
}  // namespace sterna::test
