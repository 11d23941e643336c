// Whole runs with faults, on a virtual clock.
#include "launcher/simulate/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "launcher/program_registry.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

class Simulators : public testing::Test {
 protected:
  SeedReport run(std::uint64_t seed) {
    Result<SeedReport> report = simulator.run(seed);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report ? std::move(*report) : SeedReport{};
  }
  SeedReport run(std::uint64_t seed, const std::string& schedule) {
    Result<SeedReport> report =
        simulator.run(seed, read_schedule(schedule).value(),
                      [this](Time, const std::string& line) { lines.push_back(line); });
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report ? std::move(*report) : SeedReport{};
  }
  static std::string all(const SeedReport& report) {
    std::string text = "seed " + std::to_string(report.scene.seed) + "\n";
    for (const Violation& one : report.violations) text += one.invariant + ": " + one.seen + "\n";
    return text + text_of(report.scene.schedule);
  }

  const Registry registry = program_registry();
  Simulator simulator{registry};
  std::vector<std::string> lines;
};

TEST_F(Simulators, WhateverHappensEachSeedEndsInTheSameBits) {
  std::uint64_t faults = 0;
  std::uint64_t restarts = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const SeedReport report = run(seed);
    EXPECT_TRUE(report.violations.empty()) << all(report);
    faults += report.facts.injected.size();
    restarts += report.facts.restarts.size();
  }
  EXPECT_GE(faults, 1000U);
  EXPECT_GE(restarts, 300U);
}

TEST_F(Simulators, ASeedRepeatsToTheLastMessage) {
  std::set<std::uint64_t> traces;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::uint64_t trace = run(seed).facts.trace;
    EXPECT_EQ(run(seed).facts.trace, trace) << seed;
    traces.insert(trace);
  }
  EXPECT_EQ(traces.size(), 10U);
}

TEST_F(Simulators, AFaultAtAMessageStrikesThere) {
  const SeedReport report =
      run(1, "before Push 3 of worker0 kill worker0\nbehind Rejoin 1 of worker0 kill worker0\n");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  ASSERT_EQ(report.facts.restarts.size(), 2U);
  EXPECT_EQ(report.facts.restarts[1].who, (PeerIdentity{"worker0", 2}));
  EXPECT_EQ(report.facts.points.at("Push"), 1U);
  EXPECT_EQ(report.facts.points.at("Rejoin"), 1U);
  EXPECT_THAT(lines, Contains("! before Push 3 of worker0 kill worker0"));
}

TEST_F(Simulators, OneThatIsFrozenForLongIsReplacedAndForAShortTimeIsNot) {
  SeedReport report = run(1, "at 20ms freeze worker0 for 500ms");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  EXPECT_TRUE(report.facts.restarts.empty());
  report = run(1, "at 20ms freeze worker0 for 30s");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  ASSERT_EQ(report.facts.restarts.size(), 1U);
  EXPECT_THAT(report.facts.restarts[0].cause, HasSubstr("silence"));
}

TEST_F(Simulators, WhatASlowHostDoesTakesLongerAndNobodyIsGivenUpForIt) {
  const Duration calm = run(1, "").facts.took;
  const SeedReport report = run(1, "at 0ms slow h0 by 50ms for 400ms");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  EXPECT_TRUE(report.facts.restarts.empty());
  EXPECT_GT(report.facts.took, calm + 100ms);
  EXPECT_LT(report.facts.took, run(1, "at 0ms slow h0 by 50ms for 1h").facts.took);
}

/// The first seed whose run keeps checkpoints and has a server that does not come again.
std::uint64_t one_that_keeps_checkpoints() {
  for (std::uint64_t seed = 1;; ++seed) {
    const Scene scene = draw_scene(seed).value();
    const auto alone = std::ranges::find_if(scene.file.actors, [](const ActorPlan& actor) {
      return actor.name == "server0" && actor.partner.empty();
    });
    if (scene.file.checkpoint.on() && scene.file.checkpoint.every_steps < 6 &&
        alone != scene.file.actors.end() && !scene.file.workers_hold_all()) {
      return seed;
    }
  }
}

TEST_F(Simulators, ARunThatLosesAServerGoesOnFromItsNewestWholeCheckpoint) {
  const std::uint64_t seed = one_that_keeps_checkpoints();
  SeedReport report = run(seed, "behind Push 60 of worker0 kill server0\n");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  ASSERT_EQ(report.facts.losses.size(), 1U);
  const std::uint64_t newest = report.facts.losses[0].goes_on_from;
  EXPECT_GT(newest, 0U);
  const std::uint64_t every = report.scene.file.checkpoint.every_steps;
  EXPECT_EQ(newest % every, 0U);
  // Where that is torn it is the one before.
  report = run(seed,
               "behind Push 60 of worker0 tear checkpoints\n"
               "behind Push 60 of worker0 kill server0\n");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  ASSERT_EQ(report.facts.losses.size(), 1U);
  EXPECT_EQ(report.facts.losses[0].goes_on_from + every, newest);
}

TEST_F(Simulators, OfAScheduleThatBreaksSomethingOnlyWhatBreaksItIsLeft) {
  const SeedReport report = run(1,
                                "at 5ms kill worker0\nat 9ms cut server0 worker0\n"
                                "at 20ms kill server0\nat 20ms kill reader0\n"
                                "at 30ms kill evaluator\n");
  ASSERT_FALSE(report.violations.empty());
  EXPECT_EQ(report.violations.front().invariant, "it ends well");
  EXPECT_EQ(text_of(simulator.minimise(report)), "at 20ms kill server0\n");
}

}  // namespace
}  // namespace sterna::launcher
