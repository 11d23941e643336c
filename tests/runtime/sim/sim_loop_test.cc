#include "runtime/sim/sim_loop.h"

#include <gtest/gtest.h>

#include <thread>

namespace sterna {
namespace {

using namespace std::chrono_literals;

struct Counted final : Loop::Source {
  void turn() override {
    ++turns;
    due = kNever;
    if (work > 0) --work;
    if (on_turn) on_turn();
  }
  bool ready() override { return work > 0 || (clock != nullptr && clock->now() >= due); }
  Time next_deadline() override { return due; }
  const Clock* clock = nullptr;
  int turns = 0;
  int work = 0;
  Time due = kNever;
  std::function<void()> on_turn;
};

TEST(SimLoop, TimeJumpsToWhatHappensNext) {
  SimLoop loop;
  const Time start = loop.now();
  std::vector<Duration> seen;
  loop.after(1h, [&] { seen.push_back(loop.now() - start); });
  loop.after(1s, [&] { seen.push_back(loop.now() - start); });
  EXPECT_TRUE(loop.run_until([&] { return seen.size() == 2; }, kNever));
  EXPECT_EQ(seen, (std::vector<Duration>{1s, 1h}));
}

TEST(SimLoop, WhatHappensAtOneTimeHappensInTheOrderItWasAskedFor) {
  SimLoop loop;
  std::vector<int> seen;
  for (int i = 0; i < 5; ++i) loop.after(1s, [&seen, i] { seen.push_back(i); });
  loop.run_until([] { return false; }, kNever);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(SimLoop, ThePastIsNow) {
  SimLoop loop;
  bool done = false;
  loop.at({-5}, [&] { done = true; });
  const Time before = loop.now();
  EXPECT_TRUE(loop.run_until([&] { return done; }, kNever));
  EXPECT_EQ(loop.now(), before);
}

TEST(SimLoop, StopsAtTheDeadlineOrWhenNothingCanHappenAnyMore) {
  SimLoop loop;
  const Time start = loop.now();
  EXPECT_FALSE(loop.run_until([] { return false; }, kNever));
  EXPECT_EQ(loop.now(), start);
  loop.after(10s, [] {});
  EXPECT_FALSE(loop.run_until([] { return false; }, start + 3s));
  EXPECT_EQ(loop.now(), start + 3s);
}

TEST(SimLoop, ASourceIsTurnedWhileItIsReadyAndWhenItIsDue) {
  SimLoop loop;
  Counted source;
  source.clock = &loop;
  source.work = 3;
  source.due = loop.now() + 5s;
  loop.add(source);
  source.on_turn = [&] { source.due = source.turns == 3 ? loop.now() + 5s : source.due; };
  EXPECT_TRUE(loop.run_until([&] { return source.turns == 4; }, kNever));
  EXPECT_EQ(source.work, 0);
  loop.remove(source);
}

TEST(SimLoop, SourcesMayGoDuringATurn) {
  SimLoop loop;
  Counted first;
  Counted second;
  first.work = second.work = 1;
  first.on_turn = [&] {
    loop.remove(first);
    loop.remove(second);
  };
  loop.add(first);
  loop.add(second);
  EXPECT_FALSE(loop.run_until([] { return false; }, kNever));
  EXPECT_EQ(second.turns, 0);
}

TEST(SimLoop, RunsWhatIsPostedInOrderFromAnyThread) {
  SimLoop loop;
  std::vector<int> seen;
  std::thread([&] {
    for (int i = 0; i < 3; ++i) loop.post([&seen, i] { seen.push_back(i); });
  }).join();
  EXPECT_TRUE(loop.run_until([&] { return seen.size() == 3; }, kNever));
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

TEST(SimExecutor, WorksAtOnceAndIsDoneAVirtualTimeLater) {
  SimLoop loop;
  SimExecutor executor(loop, [] { return Duration(7s); });
  const Time start = loop.now();
  bool worked = false;
  bool done = false;
  executor.submit([&] { worked = true; }, [&] { done = true; });
  EXPECT_TRUE(worked);
  EXPECT_FALSE(done);
  EXPECT_TRUE(loop.run_until([&] { return done; }, kNever));
  EXPECT_EQ(loop.now() - start, 7s);
}

}  // namespace
}  // namespace sterna
