#include "runtime/loop/uv_loop.h"

#include <gtest/gtest.h>

#include <thread>

namespace sterna {
namespace {

using namespace std::chrono_literals;

struct Probe : Loop::Source {
  void turn() override {
    ++turns;
    if (on_turn) on_turn();
  }
  bool ready() override { return work > 0; }
  Time next_deadline() override { return due; }

  int turns = 0;
  int work = 0;
  Time due = kNever;
  std::function<void()> on_turn;
};

TEST(UvLoop, TurnsAReadySourceWithoutWaiting) {
  UvLoop loop;
  Probe source;
  source.work = 1000;
  source.on_turn = [&] { --source.work; };
  loop.add(source);
  EXPECT_TRUE(loop.run_until([&] { return source.work == 0; }, loop.now() + 10s));
  EXPECT_EQ(source.turns, 1000);
  loop.remove(source);
}

TEST(UvLoop, WakesForADeadlineAndNotMuchEarlierOrLater) {
  UvLoop loop;
  Probe source;
  const Time due = loop.now() + 20ms;
  source.due = due;
  source.on_turn = [&] {
    if (loop.now() >= due) source.due = kNever;
  };
  loop.add(source);
  EXPECT_TRUE(loop.run_until([&] { return source.due == kNever; }, loop.now() + 10s));
  EXPECT_GE(loop.now(), due);
  EXPECT_LE(source.turns, 4);  // it slept
  loop.remove(source);
}

TEST(UvLoop, StopsAtTheDeadlineOfTheRunAndSleepsUntilThen) {
  UvLoop loop;
  Probe source;
  loop.add(source);
  const Time deadline = loop.now() + 20ms;
  EXPECT_FALSE(loop.run_until([] { return false; }, deadline));
  EXPECT_GE(loop.now(), deadline);
  EXPECT_LE(source.turns, 4);
  loop.remove(source);
}

TEST(UvLoop, RunsPostedWorkInTheOrderOfPostingFromAnyThread) {
  UvLoop loop;
  std::vector<int> seen;
  std::thread poster([&] {
    for (int i = 0; i < 1000; ++i) loop.post([&seen, i] { seen.push_back(i); });
  });
  EXPECT_TRUE(loop.run_until([&] { return seen.size() == 1000; }, loop.now() + 10s));
  poster.join();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(UvLoop, RunsWorkPostedByPostedWork) {
  UvLoop loop;
  bool inner = false;
  loop.post([&] { loop.post([&] { inner = true; }); });
  EXPECT_TRUE(loop.run_until([&] { return inner; }, loop.now() + 10s));
}

TEST(UvLoop, LetsSourcesComeAndGoDuringATurn) {
  UvLoop loop;
  Probe first;
  Probe second;
  Probe third;
  first.work = 1;
  first.on_turn = [&] {
    if (first.turns == 1) {
      loop.remove(second);
      loop.remove(first);
      loop.add(third);
      third.work = 1;
    }
  };
  third.on_turn = [&] { third.work = 0; };
  loop.add(first);
  loop.add(second);
  EXPECT_TRUE(loop.run_until([&] { return third.turns > 0; }, loop.now() + 10s));
  EXPECT_EQ(first.turns, 1);
  EXPECT_EQ(second.turns, 0);
  loop.remove(third);
}

TEST(UvLoop, LivesOnAHostsLoop) {
  uv_loop_t host;
  ASSERT_EQ(uv_loop_init(&host), 0);
  {
    UvLoop loop(&host);
    bool done = false;
    loop.post([&] { done = true; });
    while (!done) uv_run(&host, UV_RUN_ONCE);
    EXPECT_EQ(loop.uv(), &host);
  }
  EXPECT_EQ(uv_run(&host, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(uv_loop_close(&host), 0);
}

}  // namespace
}  // namespace sterna
