#include "launcher/past/fault_draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;

const std::vector<FaultKind> kAll = {FaultKind::KILL, FaultKind::STOP, FaultKind::CUT,
                                     FaultKind::DELAY, FaultKind::DROP};

void add(Overview& overview, const std::string& name, bool comes_again,
         const std::string& state = "running") {
  ProcessStatus& member = overview.members.emplace_back();
  member.identity = {name, 1};
  member.state = state;
  member.comes_again = comes_again;
}

Overview a_run() {
  Overview overview;
  add(overview, "coordinator", false);
  add(overview, "node-a", false);
  add(overview, "server0", false);
  add(overview, "worker0", true);
  add(overview, "worker1", true);
  add(overview, "worker2", true, "restarting");
  add(overview, "reader0", true);
  return overview;
}

std::string told(FaultDraw& draw, const Overview& overview) {
  const auto fault = draw.next(overview);
  return fault ? fault->actor.text() + " " + words_of(*fault) : "nobody";
}

std::set<std::string> struck(std::vector<std::string> actors) {
  FaultDraw draw({1, 1s, kAll, std::move(actors)});
  std::set<std::string> names;
  for (int i = 0; i < 200; ++i) {
    const auto fault = draw.next(a_run());
    if (fault) names.insert(fault->actor.name);
  }
  return names;
}

TEST(FaultDraw, StrikesThoseWhoRunAndComeAgain) {
  EXPECT_EQ(struck({}), (std::set<std::string>{"worker0", "worker1", "reader0"}));
}

TEST(FaultDraw, StrikesWhomItIsToldTo) {
  EXPECT_EQ(struck({"server", "reader0"}), (std::set<std::string>{"server0", "reader0"}));
  EXPECT_EQ(struck({"work"}), std::set<std::string>());
  EXPECT_TRUE(means("worker", "worker12"));
  EXPECT_TRUE(means("worker12", "worker12"));
  EXPECT_FALSE(means("worker1", "worker12"));
}

TEST(FaultDraw, KnowsWhoMayBeStruckNow) {
  std::vector<std::string> names;
  const FaultDraw draw({1, 1s, kAll, {"worker"}});
  for (const PeerIdentity& actor : draw.candidates(a_run())) names.push_back(actor.name);
  EXPECT_THAT(names, testing::ElementsAre("worker0", "worker1"));
}

TEST(FaultDraw, OfTwoServersThatHoldTheSameStrikesOneWhileTheOtherMayBeBack) {
  Overview overview;
  for (const char* name : {"server0", "server0-replica", "worker0"}) add(overview, name, true);
  FaultDraw draw({3, 1s, {FaultKind::KILL}, {}});
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(draw.next(overview)->actor.name);
  for (const char* name : {"server0", "server0-replica", "worker0"}) {
    EXPECT_GT(std::ranges::count(names, name), 30) << name;
  }
  for (std::size_t i = 1; i < names.size(); ++i) {
    const bool both =
        names[i] != names[i - 1] && names[i] != "worker0" && names[i - 1] != "worker0";
    EXPECT_FALSE(both) << i;
  }
}

TEST(FaultDraw, RepeatsItselfFromItsSeed) {
  FaultDraw one({7, 1s, kAll, {}});
  FaultDraw same({7, 1s, kAll, {}});
  FaultDraw other({8, 1s, kAll, {}});
  int differ = 0;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(one.pause(), same.pause());
    const std::string fault = told(one, a_run());
    EXPECT_EQ(fault, told(same, a_run()));
    (void)other.pause();
    if (fault != told(other, a_run())) ++differ;
  }
  EXPECT_GT(differ, 10);
}

TEST(FaultDraw, WhoIsThereNowDoesNotChangeWhenTheNextOneComes) {
  FaultDraw one({7, 1s, kAll, {}});
  FaultDraw other({7, 1s, kAll, {}});
  EXPECT_EQ(told(one, Overview()), "nobody");
  (void)other.next(a_run());
  EXPECT_EQ(one.pause(), other.pause());
}

TEST(FaultDraw, PausesForItsTimeInTheMean) {
  FaultDraw draw({3, 1s, kAll, {}});
  Duration sum{};
  for (int i = 0; i < 1000; ++i) {
    const Duration pause = draw.pause();
    EXPECT_LE(pause, Duration(2s));
    sum += pause;
  }
  EXPECT_NEAR(in_seconds(sum), 1000, 50);
}

TEST(FaultDraw, StopsForGoodOrForAWhile) {
  FaultDraw draw({3, 1s, {FaultKind::STOP}, {}});
  int for_good = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto fault = draw.next(a_run());
    ASSERT_TRUE(fault.has_value());
    EXPECT_LE(fault->lasts, FaultDraw::kLongest);
    if (fault->lasts == Duration::zero()) ++for_good;
  }
  EXPECT_NEAR(for_good, 500, 60);
}

TEST(FaultDraw, WhatComesIsLateOrLostForAWhileAndKillsDoNotLast) {
  FaultDraw draw({3, 1s, kAll, {}});
  std::set<FaultKind> kinds;
  for (int i = 0; i < 300; ++i) {
    const auto fault = draw.next(a_run());
    ASSERT_TRUE(fault.has_value());
    kinds.insert(fault->kind);
    EXPECT_LE(fault->lasts, FaultDraw::kLongest);
    const bool lasts = fault->lasts > Duration::zero();
    EXPECT_TRUE(lasts ? may_last(fault->kind) : !must_last(fault->kind)) << words_of(*fault);
  }
  EXPECT_EQ(kinds.size(), kAll.size());
}

TEST(FaultDraw, IsSaidInWords) {
  EXPECT_EQ(words_of({{"a", 1}, FaultKind::KILL, {}}), "kill");
  EXPECT_EQ(words_of({{"a", 1}, FaultKind::STOP, 1300ms}), "stop for 1300ms");
  EXPECT_EQ(words_of({{"a", 1}, FaultKind::STOP, {}}), "stop for good");
  EXPECT_EQ(words_of({{"a", 1}, FaultKind::CUT, {}}), "cut");
  EXPECT_EQ(words_of({{"a", 1}, FaultKind::DELAY, 2s}), "delay for 2s");
  EXPECT_EQ(words_of({{"a", 1}, FaultKind::DROP, 10ms}), "drop for 10ms");
}

}  // namespace
}  // namespace sterna::launcher
