// Each invariant of a simulated run can be seen to be broken.
#include "launcher/simulate/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

class Facts : public testing::Test {
 protected:
  Facts() {
    actors::Evaluated evaluated;
    evaluated.step = 10;
    evaluated.loss = 2;
    calm.hash = facts.hash = "abc";
    calm.evaluated = facts.evaluated = {evaluated};
    facts.finished = true;
    facts.injected.push_back({{.kind = FaultKind::kill, .who = "worker0"}, {"worker0", 1}, {}});
    facts.injected.push_back({{.kind = FaultKind::part, .who = "server0", .other = "reader0"},
                              {"server0", 1},
                              {"reader0", 1}});
    facts.restarts.push_back({{"worker0", 1}, "killed by SIGKILL"});
    facts.restarts.push_back({{"reader0", 1}, "its link with server0 ended: link lost"});
  }
  /// The invariants that do not hold, and what was seen of the first.
  std::vector<std::string> broken() {
    std::vector<std::string> names;
    const std::vector<Violation> all = violations(scene, facts, calm);
    for (const Violation& one : all) names.push_back(one.invariant);
    seen = all.empty() ? "" : all.front().seen;
    return names;
  }
  void expect(const std::string& invariant, const std::string& words) {
    EXPECT_THAT(broken(), testing::ElementsAre(invariant));
    EXPECT_THAT(seen, HasSubstr(words));
  }
  static ProcessDown death(const std::string& name, const std::string& cause) {
    ProcessDown down;
    down.identity = {name, 1};
    down.cause = cause;
    return down;
  }

  Scene scene;
  RunFacts facts;
  CalmRun calm;
  std::string seen;
};

TEST_F(Facts, ThatAreAsTheyShouldBeBreakNothing) { EXPECT_TRUE(broken().empty()) << seen; }

TEST_F(Facts, OfRanksThatDoNotGoInStep) {
  scene.apart = true;
  scene.file.job.steps = 10;
  scene.file.evaluation.every = 10;
  calm = {};
  EXPECT_TRUE(broken().empty()) << seen;
  facts.packet_faults = {"one counts twice"};
  expect("each packet counts once", "twice");
  facts.packet_faults.clear();
  facts.evaluated.push_back(facts.evaluated.front());
  facts.evaluated.back().loss = 3;
  expect("each version is evaluated to the same", "at step 10");
  facts.evaluated.clear();
  expect("each version that is due is evaluated", "step 10 was not");
}

TEST_F(Facts, OfARunWithTooFewRanksLeft) {
  facts.finished = false;
  facts.failure = {.down = death("worker1", "killed by SIGKILL; 1 of 3 ranks are left")};
  expect("it ends well", "1 of 3");
  facts.below_quorum = "1 of 3 ranks are left";
  EXPECT_TRUE(broken().empty()) << seen;
}

TEST_F(Facts, OfARunThatDoesNotStart) {
  facts.not_started = "nobody is there";
  expect("it starts", "nobody");
}

TEST_F(Facts, OfARunThatFails) {
  facts.failure = {.down = death("server0", "exited with code 1")};
  expect("it ends well", "server0#1: exited");
}

TEST_F(Facts, OfARunThatDoesNotEnd) {
  facts.finished = false;
  expect("it ends in time", "deadline");
}

TEST_F(Facts, OfOtherBits) {
  facts.hash = "abd";
  expect("the same bits", "abd, and undisturbed abc");
}

TEST_F(Facts, OfAVersionWithOtherBits) {
  facts.evaluated.push_back(facts.evaluated.front());
  facts.evaluated.back().loss = 3;
  expect("each version is the undisturbed run's", "step 10");
}

TEST_F(Facts, OfAVersionThatWasNotDue) {
  facts.evaluated.push_back(facts.evaluated.front());
  facts.evaluated.back().step = 11;
  expect("each version is the undisturbed run's", "step 11");
}

TEST_F(Facts, OfAVersionThatWasLeftOut) {
  facts.evaluated.clear();
  expect("each version that is due is evaluated", "step 10");
}

TEST_F(Facts, OfTwoIncarnationsAtOnce) {
  facts.twins.emplace_back("worker0#1 and worker0#2");
  expect("one live incarnation a name", "worker0#2");
}

TEST_F(Facts, OfARestartWithoutAFault) {
  facts.restarts.push_back({{"worker0", 2}, "killed by SIGKILL"});
  expect("causes are as injected", "worker0#2");
}

TEST_F(Facts, OfARestartWithAnotherFaultsCause) {
  facts.restarts.front().cause = "silence for 5 s";
  expect("causes are as injected", "worker0#1");
}

TEST_F(Facts, OfARestartWithTheNodeOfItsHost) {
  facts.restarts.push_back({{"worker1", 1}, "node-h0 is gone: link lost: connection lost"});
  expect("causes are as injected", "worker1#1");
  facts.injected.push_back({{.kind = FaultKind::kill, .who = "node-h0"}, {"node-h0", 1}, {}});
  EXPECT_TRUE(broken().empty()) << seen;
}

TEST_F(Facts, OfSomebodyWhoIsLeft) {
  facts.survivors = 1;
  expect("nobody is left", "1 processes");
}

TEST_F(Facts, OfMoreBytesThanMayWait) {
  facts.queued_bytes = std::uint64_t{1} << 40U;
  expect("bounds hold", "bytes wait");
}

TEST_F(Facts, OfARunThatHadToFail) {
  scene.ends_with = {"server0"};
  facts.finished = false;
  expect("it ends in time", "deadline");  // it was not even killed
  facts.injected.push_back({{.kind = FaultKind::kill, .who = "server0"}, {"server0", 1}, {}});
  facts.failure = {.down = death("server0", "killed by SIGKILL")};
  EXPECT_TRUE(broken().empty()) << seen;
  facts.failure = {.down = death("worker0", "server0 is dead")};
  expect("causes are as injected", "server0 was killed, and the run failed by worker0#1");
}

TEST_F(Facts, OfARunThatHadToGoOn) {
  scene.ends_with = {"server0"};
  scene.file.checkpoint.every_steps = 4;
  facts.injected.push_back({{.kind = FaultKind::kill, .who = "server0"}, {"server0", 1}, {}, 0});
  facts.losses = {{.down = death("server0", "killed by SIGKILL"), .goes_on_from = 10}};
  EXPECT_TRUE(broken().empty()) << seen;
  facts.evaluated.erase(facts.evaluated.begin());  // with what was lost
  EXPECT_TRUE(broken().empty()) << seen;
  facts.losses[0].goes_on_from = 0;
  expect("each version that is due is evaluated", "was not");

  facts.evaluated = calm.evaluated;
  facts.losses[0].down = death("worker0", "exited with code 1");
  expect("causes are as injected", "server0 was killed, and the run failed by worker0#1");
  facts.losses = {};
  facts.failure = {.down = death("server0", "killed by SIGKILL")};
  expect("it goes on from a checkpoint", "after 1 losses");
}

TEST_F(Facts, OfALossThatNoFaultOfThatLifeExplains) {
  facts.restarts.push_back({{"worker0", 1}, "killed by SIGKILL", 1});
  expect("causes are as injected", "worker0#1 was started again without a fault");
}

}  // namespace
}  // namespace sterna::launcher
