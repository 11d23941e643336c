// Those who look at a run from outside, and the lease of its nodes: a whole run in one program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "runtime/cluster/cluster.h"
#include "runtime/cluster/connected_process.h"
#include "runtime/sim/sim_world.h"
#include "tests/runtime/cluster/cluster_test_actor.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;

/// Ends as soon as it has started.
class BriefActor final : public Actor<Interface<>> {
 public:
  explicit BriefActor(const PeerArgs&) {}

 private:
  void started() override { stop(); }
};

/// Its device fails as soon as that is wanted.
class ActorOnADevice final : public Actor<Interface<>> {
 public:
  explicit ActorOnADevice(const PeerArgs&) {}
  Result<void> suffer_device_fault() override {
    fail("its device has failed");
    return {};
  }
};

class ClusterVisit : public testing::Test {
 protected:
  void start(ClusterOptions options) {
    keys.public_key = "public-operator";
    keys.token = "token-operator";
    Contact contact;
    contact.process = kFirstOperator.value;
    contact.identity = {"operator0", 1};
    contact.public_key = keys.public_key;
    contact.token_hash = "hash of " + keys.token;
    options.operators = {contact};
    cluster.emplace(world.launcher(), registry, std::move(options));
    Cluster::Events events;
    events.end_wanted = [this](const std::string& cause) { wish = cause; };
    events.fault_injected = [this](const FaultInjected& fault) { injected.push_back(fault); };
    events.restarts = [this](const ProcessRestarts& told) { restarts.push_back(told.down); };
    cluster->set_events(std::move(events));
    const Result<void> started = cluster->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
    ASSERT_TRUE(cluster->spawn<Peer>("a", "peer", PeerArgs{0, ""}).ok());
  }
  /// Dials the coordinator as the operator.
  void visit() {
    Bootstrap self;
    self.process = kFirstOperator;
    self.identity = {"operator0", 1};
    self.run = cluster->run();
    self.credentials = keys;
    auto made = ConnectedProcess::make(world.launcher(), self, registry.schema_hash());
    ASSERT_TRUE(made.ok()) << made.error().message;
    visitor = std::move(made).value();
    visitor->links().set_tree_peer(kCoordinatorProcess);
    visitor->links().dial(cluster->coordinator());
    ASSERT_TRUE(wait([this] { return visitor->links().connected(kCoordinatorProcess); }));
  }
  template <class M>
  auto ask(M message) {
    auto answer = visitor->process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                         std::move(message), seconds(10));
    EXPECT_TRUE(wait([&] { return answer.ready(); }));
    return answer.take();
  }
  bool wait(const std::function<bool()>& done, Duration patience = seconds(20)) {
    return world.loop().run_until(done, world.loop().now() + patience);
  }
  bool logged(const std::string& words) const {
    return std::any_of(world.log().begin(), world.log().end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }
  void TearDown() override {
    visitor.reset();
    cluster.reset();
  }

  Registry registry = peer_registry();
  SimWorld world{1, registry};
  Credentials keys;
  std::optional<Cluster> cluster;
  std::unique_ptr<ConnectedProcess> visitor;
  std::string wish;
  std::vector<FaultInjected> injected;
  std::vector<ProcessDown> restarts;
};

TEST_F(ClusterVisit, AnOperatorSeesEveryProcessAndTheLaunchersReport) {
  start({});
  const auto report = std::make_shared<Buffer>(4);
  std::copy_n("fine", 4, reinterpret_cast<char*>(report->data()));
  cluster->report({report, report->bytes()});
  visit();
  const Result<Overview> overview = ask(Look{});
  ASSERT_TRUE(overview.ok()) << overview.error().message;
  EXPECT_EQ(overview->run, cluster->run());
  std::vector<std::string> names;
  for (const ProcessStatus& member : overview->members) names.push_back(member.identity.name);
  EXPECT_THAT(names, testing::ElementsAre("coordinator", "node-localhost", "a"));
  EXPECT_EQ(overview->members.front().resident_bytes, 4096U);
  EXPECT_EQ(overview->report.size(), 4U);
}

TEST_F(ClusterVisit, AnOperatorSeesThatAnActorThatEndedByItselfIsDone) {
  registry.add<BriefActor, PeerArgs>("brief");
  start({});
  ASSERT_TRUE(cluster->start_actors({{"b", "brief", pack(PeerArgs{0, ""})}}).ok());
  ASSERT_TRUE(wait([this] { return logged("b#1 has ended"); }));
  visit();
  const Result<Overview> overview = ask(Look{});
  ASSERT_TRUE(overview.ok()) << overview.error().message;
  EXPECT_EQ(overview->members.back().identity.name, "b");
  EXPECT_EQ(overview->members.back().state, "done");
}

TEST_F(ClusterVisit, AnOperatorsWordEndsTheRunWhenTheLauncherHasEndedIt) {
  start({});
  visit();
  auto answer = visitor->process().ask(agent_of<Coordinator>(kCoordinatorProcess), EndRun{"enough"},
                                       seconds(30));
  ASSERT_TRUE(wait([this] { return !wish.empty(); }));
  EXPECT_EQ(wish, "enough");
  EXPECT_FALSE(answer.ready());
  cluster->stop(seconds(1));
  ASSERT_TRUE(wait([&] { return answer.ready(); }));
  const Result<Stopped> stopped = answer.take();
  ASSERT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_EQ(stopped->stopped, 1U);
}

TEST_F(ClusterVisit, AnOperatorMayComeBackAsTheSame) {
  start({});
  for (int i = 0; i < 3; ++i) {
    visit();
    EXPECT_TRUE(ask(Look{}).ok());
    visitor.reset();
    wait([] { return false; }, seconds(1));
  }
}

TEST_F(ClusterVisit, AnOperatorLearnsWhatEachProcessHasRefused) {
  start({});
  visit();
  const Result<Overview> overview = ask(Look{});
  ASSERT_TRUE(overview.ok()) << overview.error().message;
  for (const ProcessStatus& member : overview->members) {
    const Result<Inspection> inspection = ask(Inspect{member.process});
    ASSERT_TRUE(inspection.ok()) << member.identity.name << ": " << inspection.error().message;
    EXPECT_GT(inspection->open_links, 0U) << member.identity.name;
    EXPECT_EQ(inspection->authentication_denials, 0U);
  }
}

TEST_F(ClusterVisit, AnOperatorMayNotDoWhatIsTheLaunchers) {
  start({});
  visit();
  AddNode add;
  add.host = "elsewhere";
  const Result<Bootstrap> node = ask(std::move(add));
  ASSERT_FALSE(node.ok());
  EXPECT_TRUE(logged("operator0#1 is muted: only the launcher may ask for this"));
}

TEST_F(ClusterVisit, ANodeWithoutAWordFromTheCoordinatorEndsOnItsLease) {
  ClusterOptions options;
  options.silence = seconds(600);  // nothing else would notice
  options.lease = seconds(3);
  options.grace = seconds(3);
  start(std::move(options));
  wait([] { return false; }, seconds(30));
  EXPECT_TRUE(world.lives("a"));  // renewed all the time
  world.freeze("coordinator");
  EXPECT_TRUE(wait([this] { return !world.lives("node-localhost"); }, seconds(8)));
  EXPECT_FALSE(world.lives("a"));
  EXPECT_TRUE(logged("no word from the coordinator for the 3 s of the lease"));
}

TEST_F(ClusterVisit, AnOperatorInjectsFaultsOnlyWhereTheRunAllowsIt) {
  start({});
  ActorSpec spec{"b", "peer", pack(PeerArgs{0, ""})};
  spec.restart.times = 2;
  ASSERT_TRUE(cluster->start_actors({spec}).ok());
  visit();
  const InjectFault fault{"b", FaultKind::KILL, {}, "a test", {}};
  EXPECT_FALSE(ask(Look{})->faults_allowed);
  EXPECT_EQ(ask(fault).error().code, Errc::permission);
  cluster->allow_faults();
  ASSERT_TRUE(wait([&] { return ask(Look{})->faults_allowed; }));
  const Result<void> done = ask(fault);
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_TRUE(wait([this] { return !restarts.empty(); }));
  EXPECT_EQ(restarts.front().identity, (PeerIdentity{"b", 1}));
  EXPECT_THAT(restarts.front().cause, HasSubstr("SIGKILL"));
  ASSERT_EQ(injected.size(), 1U);
  EXPECT_EQ(injected.front().identity, (PeerIdentity{"b", 1}));
  EXPECT_EQ(injected.front().kind, FaultKind::KILL);
  EXPECT_EQ(injected.front().reason, "a test");
  EXPECT_EQ(ask(fault).error().code, Errc::unavailable) << "it is being started again";
}

TEST_F(ClusterVisit, AFaultHappensToAnActorThatIsThere) {
  start({});
  cluster->allow_faults();
  visit();
  EXPECT_EQ(ask(InjectFault{"nobody", FaultKind::KILL, {}, "", {}}).error().code, Errc::not_found);
  for (const char* name : {"coordinator", "node-localhost", "launcher"}) {
    EXPECT_FALSE(ask(InjectFault{name, FaultKind::KILL, {}, "", {}}).ok()) << name;
  }
  const auto refused = [this](FaultKind kind, Duration lasts, Duration by) {
    const Result<void> done = ask(InjectFault{"a", kind, lasts, "", by});
    return done ? std::string("no error") : done.error().message;
  };
  EXPECT_EQ(refused(FaultKind::KILL, seconds(1), {}), "a kill does not last");
  EXPECT_EQ(refused(FaultKind::DROP, {}, {}), "a drop lasts for some time: say how long");
  EXPECT_EQ(refused(FaultKind::DELAY, {}, seconds(1)), "a delay lasts for some time: say how long");
  EXPECT_EQ(refused(FaultKind::DROP, seconds(1), seconds(1)), "a drop comes by nothing");
  EXPECT_TRUE(injected.empty());
}

TEST_F(ClusterVisit, WhatComesToAnActorIsLateOrLostAndThenAllHasCome) {
  start({});
  ASSERT_TRUE(cluster->spawn<Peer>("b", "peer", PeerArgs{40, ""}).ok());
  cluster->allow_faults();
  visit();
  ASSERT_TRUE(ask(InjectFault{"b", FaultKind::DELAY, seconds(1), "a test", {}}).ok());
  ASSERT_TRUE(wait([this] { return injected.size() == 1; }));
  EXPECT_EQ(injected.back().by, kUsualDelay);
  const Time began = world.loop().now();
  ASSERT_TRUE(wait([this] { return logged("b: for 1s what comes is held back for 200ms"); }));
  const Result<ActorRef<Peer>> a = cluster->find<Peer>("a", seconds(1));
  ASSERT_TRUE(a.ok());
  Result<Balance> balance = cluster->ask(*a, Relay{"b", 1}, seconds(5));
  ASSERT_TRUE(balance.ok()) << balance.error().message;
  EXPECT_EQ(balance->value, 41);
  EXPECT_GE(world.loop().now() - began, kUsualDelay);
  ASSERT_TRUE(ask(InjectFault{"b", FaultKind::DROP, seconds(2), "a test", {}}).ok());
  ASSERT_TRUE(wait([this] { return logged("b: for 2s what comes is thrown away"); }));
  balance = cluster->ask(*a, Relay{"b", 1}, seconds(5));
  ASSERT_TRUE(balance.ok()) << balance.error().message;
  EXPECT_EQ(balance->value, 42);
  EXPECT_TRUE(restarts.empty());
  EXPECT_FALSE(cluster->failure().has_value());
}

TEST_F(ClusterVisit, AFaultOfADeviceEndsWhoComputesOnOneForGoodAndIsRefusedByWhoDoesNot) {
  registry.add<ActorOnADevice, PeerArgs>("on_a_device");
  start({});
  ActorSpec spec{"b", "on_a_device", pack(PeerArgs{0, ""})};
  spec.restart.times = 2;
  ASSERT_TRUE(cluster->start_actors({spec}).ok());
  cluster->allow_faults();
  visit();
  const Result<void> none = ask(InjectFault{"a", FaultKind::DEVICE_FAULT, {}, "a test", {}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
  EXPECT_EQ(none.error().message, "it computes on no device");
  EXPECT_TRUE(injected.empty());
  const Result<void> done = ask(InjectFault{"b", FaultKind::DEVICE_FAULT, {}, "a test", {}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_TRUE(wait([this] { return cluster->failure().has_value(); }));
  EXPECT_EQ(cluster->failure()->identity, (PeerIdentity{"b", 1}));
  EXPECT_THAT(cluster->failure()->cause, HasSubstr("its device has failed"));
  EXPECT_TRUE(restarts.empty());
  ASSERT_EQ(injected.size(), 1U);
  EXPECT_EQ(injected.front().kind, FaultKind::DEVICE_FAULT);
}

TEST_F(ClusterVisit, WhoWouldComeAgainIsKnown) {
  start({});
  ActorSpec spec{"b", "peer", pack(PeerArgs{0, ""})};
  spec.restart.times = 1;
  ASSERT_TRUE(cluster->start_actors({spec}).ok());
  visit();
  const auto comes_again = [this] {
    std::map<std::string, bool> told;
    const Result<Overview> overview = ask(Look{});
    if (!overview) return told;
    for (const ProcessStatus& member : overview->members) {
      told[member.identity.name] = member.comes_again;
    }
    return told;
  };
  EXPECT_THAT(comes_again(),
              testing::ElementsAre(testing::Pair("a", false), testing::Pair("b", true),
                                   testing::Pair("coordinator", false),
                                   testing::Pair("node-localhost", false)));
  world.kill("b");
  ASSERT_TRUE(wait([this] { return logged("b#2 is ready"); }));
  EXPECT_FALSE(comes_again()["b"]) << "once was all";
}

}  // namespace
}  // namespace sterna::test
