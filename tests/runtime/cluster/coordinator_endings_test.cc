// Who has died and why, and the end of the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/transport/handshake.h"
#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

class CoordinatorEndings : public ClusterSim {
 protected:
  explicit CoordinatorEndings(ClusterOptions options = impatient())
      : ClusterSim(std::move(options)) {}
  static ClusterOptions impatient() {
    ClusterOptions options;
    options.link_patience = std::chrono::milliseconds(700);
    return options;
  }
  void part(const std::string& a, const std::string& b, const std::string& cause = "cut") {
    world.network().set_parted(a, b, true);
    world.network().cut(a, b, cause);
  }
};

TEST_F(CoordinatorEndings, TheDeathOfTheNodeIsTheCauseAndItsActorsAreTheConsequence) {
  spawn("a");
  world.kill("node-localhost");
  ASSERT_TRUE(wait([&] { return downs.size() >= 2; }, seconds(5)));
  ASSERT_TRUE(cluster.failure().has_value());
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("SIGKILL"));
  EXPECT_FALSE(world.lives("a"));
}

TEST_F(CoordinatorEndings, ASilentNodeIsKilledAndNamed) {
  spawn("a");
  world.freeze("node-localhost");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value() && !cluster.failure()->consequence; },
                   seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(CoordinatorEndings, StoppingAtTheFirstDeathStillNamesTheNodeBehindIt) {
  spawn("a");
  world.freeze("node-localhost");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  cluster.stop(seconds(1));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_F(CoordinatorEndings, WhoEndsForWantOfAnotherIsNotTheCause) {
  // As of a process that the kernel still takes down: its links are lost, its end is not seen yet.
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  world.freeze("b");
  part("a", "b");
  ASSERT_TRUE(wait([&] { return reported("a reports about b"); }, seconds(2)));
  cluster.process().tell(a, Fail{"b does not answer"});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(1)));
  EXPECT_EQ(cluster.failure()->identity.name, "a");
  EXPECT_TRUE(cluster.failure()->consequence);
  cluster.stop(seconds(1));
  EXPECT_EQ(cluster.failure()->identity.name, "b");
}

TEST_F(CoordinatorEndings, AConnectionThatIsLostIsNoDeath) {
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  const std::vector<std::string> all = {"launcher", "coordinator", "node-localhost", "a", "b"};
  for (std::int64_t i = 1; i < 50; ++i) {
    const std::string& one = all[world.launcher().random().next() % all.size()];
    const std::string& other = all[world.launcher().random().next() % all.size()];
    world.loop().after(std::chrono::microseconds(i % 7), [&] { world.network().cut(one, other); });
    const Result<Balance> balance = cluster.ask(a, Relay{"b", 1}, seconds(5));
    ASSERT_TRUE(balance.ok()) << balance.error().message;
    EXPECT_EQ(balance->value, i);  // none was lost, and none came twice
  }
  EXPECT_TRUE(reported("linked again"));
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_F(CoordinatorEndings, ALinkThatStaysLostBetweenTwoActorsEndsTheOneThatIsReported) {
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  part("a", "b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("link lost"));
}

// Who ends in the middle of a handshake looks like one of another key.
TEST_F(CoordinatorEndings, TheDeathThatFollowsAHandshakeThatFailedSaysMore) {
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  part("a", "b", "the handshake with b " + std::string(kHandshakeFailed));
  EXPECT_FALSE(wait([&] { return cluster.failure().has_value(); }, std::chrono::seconds(1)));
  world.kill("b");
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.name, "b");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("SIGKILL"));
}

TEST_F(CoordinatorEndings, WhoDoNotReachEachOtherAreNamedAndThatItIsOver) {
  std::vector<LinkTrouble> troubles;
  Cluster::Events events;
  events.link_trouble = [&](const LinkTrouble& trouble) { troubles.push_back(trouble); };
  cluster.set_events(events);
  const ActorRef<Peer> a = spawn("a");
  spawn("b");
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  world.network().cut("a", "b");
  ASSERT_TRUE(wait([&] { return troubles.size() == 1; }, seconds(5)));
  EXPECT_TRUE(troubles[0].over);
  EXPECT_LT(troubles[0].lasts, std::chrono::milliseconds(10));
  EXPECT_EQ(troubles[0].from_name, "a");
  EXPECT_EQ(troubles[0].to_name, "b");
  EXPECT_THAT(troubles[0].cause, HasSubstr("link lost"));
}

class PatientCoordinator : public ClusterSim {
 protected:
  explicit PatientCoordinator(ClusterOptions options = {}) : ClusterSim(std::move(options)) {}
};

ClusterOptions with_slow_links() {
  ClusterOptions options;
  options.slow_link = 1'000'000'000'000;  // whatever stays under way for long
  return options;
}

class SlowLinks : public PatientCoordinator {
 protected:
  SlowLinks() : PatientCoordinator(with_slow_links()) {
    Cluster::Events events;
    events.link_pace = [this](const LinkPace& pace) { paces.push_back(pace); };
    events.down = [this](const ProcessDown& down) { downs.push_back(down); };
    told = std::move(events);
  }
  /// What one says to the other does not come for 3 s.
  void stall() {
    cluster.set_events(told);
    a = spawn("a");
    b = spawn("b");
    ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
    world.network().set_stalled("a", "b", true);
    answer = cluster.process().ask(a, Relay{"b", 1}, seconds(5));
    ASSERT_TRUE(wait([this] { return !paces.empty(); }, seconds(4)));
    EXPECT_EQ(paces[0].from_name, "a");
    EXPECT_EQ(paces[0].to_name, "b");
    EXPECT_EQ(paces[0].from_host, "localhost");
    EXPECT_EQ(paces[0].to_host, "localhost");
    EXPECT_GT(paces[0].rate, 0U);
    EXPECT_LT(paces[0].rate, 10'000U);
    EXPECT_FALSE(paces[0].over);
    world.network().set_stalled("a", "b", false);
  }
  Cluster::Events told;
  std::vector<LinkPace> paces;
  ActorRef<Peer> a;
  ActorRef<Peer> b;
  Future<Balance> answer;
};

TEST_F(SlowLinks, AreNamedWithBothEndsAndThatTheyAreOver) {
  stall();
  ASSERT_TRUE(wait([this] { return paces.size() == 2; }, seconds(40)));
  EXPECT_TRUE(paces[1].over);
  EXPECT_EQ(paces[1].from_name, "a");
  EXPECT_GT(paces[1].lasts, seconds(1));
  EXPECT_TRUE(downs.empty());
}

TEST_F(SlowLinks, AreOverWithEitherEnd) {
  stall();
  const Time killed = world.loop().now();
  world.kill("a");
  ASSERT_TRUE(wait([this] { return paces.size() == 2; }, seconds(5)));
  EXPECT_TRUE(paces[1].over);
  EXPECT_LT(world.loop().now() - killed, seconds(1));
}

TEST_F(PatientCoordinator, TheOneWhomMoreDoNotReachGoes) {
  std::vector<std::string> apart;
  Cluster::Events events;
  events.down = [this](const ProcessDown& down) { downs.push_back(down); };
  events.link_trouble = [&](const LinkTrouble& trouble) {
    apart.push_back(trouble.from_name + (trouble.over ? " over " : " ") + trouble.to_name);
  };
  cluster.set_events(events);
  const ActorRef<Peer> a = spawn("a");
  const ActorRef<Peer> b = spawn("b");
  spawn("c");
  // "a" tells first, of b; but nobody else misses b.
  ASSERT_TRUE(cluster.ask(a, Relay{"b", 1}, seconds(5)).ok());
  ASSERT_TRUE(cluster.ask(a, Relay{"c", 1}, seconds(5)).ok());
  ASSERT_TRUE(cluster.ask(b, Relay{"c", 1}, seconds(5)).ok());
  for (const char* other : {"b", "c"}) {
    world.network().set_parted("a", other, true);
    world.network().cut("a", other);
  }
  ASSERT_TRUE(wait([&] { return apart.size() == 2; }, seconds(2)));
  EXPECT_FALSE(cluster.failure().has_value());
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(40)));
  EXPECT_EQ(cluster.failure()->identity.name, "a");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("link lost"));
}

TEST_F(PatientCoordinator, WhoHearNothingOfEachOtherAreNamedOnceTheSilenceHasLastedForASecond) {
  // Nothing is cut: what they say is lost. Who dialled ("a") gives the connection up after half the
  // silence, who was dialled after three halves: so late it is where only what "a" says is lost.
  // Both look only as often as a heart beats: by one beat the last word counts as heard too late,
  // by another one the silence as long enough.
  struct Way {
    bool there, back;
    int halves;
  };
  const ClusterOptions options{};
  std::vector<LinkTrouble> troubles;
  Cluster::Events events;
  events.link_trouble = [&](const LinkTrouble& trouble) { troubles.push_back(trouble); };
  cluster.set_events(events);
  const ActorRef<Peer> a = spawn("a");
  for (const char* other : {"b", "c"}) {
    spawn(other);
    ASSERT_TRUE(cluster.ask(a, Relay{other, 1}, seconds(5)).ok());
    wait([] { return false; }, options.heartbeat / 2);  // those of "c" are at other moments
  }
  Time parted = world.loop().now();
  for (const Way way : {Way{true, true, 1}, Way{false, true, 1}, Way{true, false, 3}}) {
    const Duration soonest = way.halves * options.silence / 2 + seconds(1);
    Duration longest{};
    for (int i = 0; i < 10; ++i) {
      const std::string other = i % 2 == 0 ? "b" : "c";
      const auto part = [&](bool on) {
        world.network().set_parted("a", other, on);
        world.network().set_stalled("a", other, on && way.there);
        world.network().set_stalled(other, "a", on && way.back);
      };
      // Each time at another moment between two heartbeats.
      parted = parted + seconds(20) + options.heartbeat / 10;
      cluster.run_until([] { return false; }, parted);
      troubles.clear();
      part(true);
      ASSERT_TRUE(wait([&] { return !troubles.empty(); }, seconds(15))) << i;
      EXPECT_FALSE(troubles[0].over) << i;
      const Duration took = world.loop().now() - parted;
      EXPECT_GT(took, soonest) << i;
      EXPECT_LE(took, soonest + 2 * options.heartbeat) << i;
      longest = std::max(longest, took);
      part(false);
      ASSERT_TRUE(wait([&] { return troubles.back().over; }, seconds(4))) << i;
      wait([] { return false; }, seconds(2));
      EXPECT_EQ(std::ranges::count(troubles, true, &LinkTrouble::over), 1) << i;
    }
    EXPECT_GT(longest, soonest + options.heartbeat) << "no moment was a bad one";
  }
  EXPECT_FALSE(cluster.failure().has_value());
}

class WithoutAnotherCoordinator : public CoordinatorEndings {
 protected:
  WithoutAnotherCoordinator() : CoordinatorEndings(options()) {}
  static ClusterOptions options() {
    ClusterOptions options = impatient();
    options.coordinator_restarts.times = 0;
    return options;
  }
};

TEST_F(WithoutAnotherCoordinator, ALostLauncherEndsEverything) {
  spawn("a");
  part("launcher", "coordinator");
  ASSERT_TRUE(wait([&] { return world.processes() == 0; }, seconds(5)));
}

}  // namespace
}  // namespace sterna::test
