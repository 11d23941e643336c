// Whole runs with faults, on a virtual clock.
#include "launcher/simulate/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "launcher/program_registry.h"
#include "tests/sanitized.h"

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
  std::uint64_t moves = 0;
  std::uint64_t losses = 0;  // after which all went on from a checkpoint
  std::map<FaultKind, std::uint64_t> struck;
  for (std::uint64_t seed = 1; seed <= test::seeds_of(100); ++seed) {
    const SeedReport report = run(seed);
    EXPECT_TRUE(report.violations.empty()) << all(report);
    faults += report.facts.injected.size();
    restarts += report.facts.restarts.size();
    moves += report.facts.moves;
    losses += report.facts.losses.size();
    for (const RunFacts::Injected& one : report.facts.injected) ++struck[one.fault.kind];
  }
  if (test::kSanitized) return;  // of a few seeds
  EXPECT_GE(faults, 1000U);
  EXPECT_GE(restarts, 300U);
  EXPECT_GT(moves, 0U);
  EXPECT_GT(losses, 0U);
  // A kind that no run has met is one of which nothing is known.
  constexpr auto kLast = static_cast<int>(FaultKind::slow);
  for (int kind = 0; kind <= kLast; ++kind) {
    const Fault one{.kind = static_cast<FaultKind>(kind)};
    EXPECT_GT(struck[one.kind], 0U) << text_of(one);
  }
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

/// A host with workers without which the scene's run goes on, and with no server whose loss would
/// be its end; empty: there is none.
std::string host_to_lose(const Scene& scene) {
  const ClusterFile& file = scene.file;
  if (file.cluster.lost_host != "quorum") return "";
  for (const HostSection& host : file.hosts) {
    std::int64_t left = file.ranks();
    bool servers_have_partners = true;
    for (const ActorPlan& actor : file.actors) {
      if (actor.host != host.name) continue;
      left -= actor.ranks;
      if (actor.role == Role::kParameterServer && actor.partner.empty()) {
        servers_have_partners = false;
      }
    }
    if (left < file.ranks() && left >= file.scheme.quorum && servers_have_partners) {
      return host.name;
    }
  }
  return "";
}

TEST_F(Simulators, ARunThatMayDoWithoutWorkersGoesOnWithoutThoseOfALostHost) {
  std::uint64_t seed = 1;
  while (host_to_lose(draw_scene(seed).value()).empty()) ++seed;
  const std::string host = host_to_lose(draw_scene(seed).value());
  const SeedReport report = run(seed, "behind Push 10 of worker0 kill node-" + host + "\n");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  EXPECT_TRUE(report.facts.finished);
  EXPECT_TRUE(report.facts.losses.empty()) << "nothing was done again";
  std::set<std::string> workers;
  for (const ActorPlan& actor : report.scene.file.actors) {
    if (actor.role == Role::kWorker && actor.host == host) workers.insert(actor.name);
  }
  const std::vector<std::string>& lost = report.facts.lost_workers;
  EXPECT_EQ(std::set<std::string>(lost.begin(), lost.end()), workers);
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

std::string host_of(const Scene& scene, const std::string& name) {
  return std::ranges::find(scene.file.actors, name, &ActorPlan::name)->host;
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
  // Where that is torn it is the one before: of versions that are due while another is being
  // written there is none.
  report = run(seed,
               "behind Push 60 of worker0 tear checkpoints\n"
               "behind Push 60 of worker0 kill server0\n");
  EXPECT_TRUE(report.violations.empty()) << all(report);
  ASSERT_EQ(report.facts.losses.size(), 1U);
  const std::uint64_t before = report.facts.losses[0].goes_on_from;
  EXPECT_LT(before, newest);
  EXPECT_GT(before, 0U);
  EXPECT_EQ(before % every, 0U);
  // And where a disk is full none is whole.
  for (const std::string& disk : {std::string(kOwnerFiles), host_of(report.scene, "server0")}) {
    report = run(seed, "at 0ms fill " + disk +
                           " for 1h\n"
                           "behind Push 60 of worker0 kill server0\n");
    EXPECT_TRUE(report.violations.empty()) << disk << ": " << all(report);
    ASSERT_EQ(report.facts.losses.size(), 1U) << disk;
    EXPECT_EQ(report.facts.losses[0].goes_on_from, 0U) << disk;
  }
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
