#include "runtime/loop/thread_executor.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "runtime/loop/uv_loop.h"

namespace sterna {
namespace {

using namespace std::chrono_literals;

TEST(ThreadExecutor, RunsJobsInOrderElsewhereAndCompletesThemOnTheLoopThread) {
  UvLoop loop;
  ThreadExecutor executor(loop, 1, "compute");
  const auto loop_thread = std::this_thread::get_id();
  std::vector<int> worked;
  std::vector<int> done;
  char name[16] = {};
  for (int i = 0; i < 100; ++i) {
    executor.submit(
        [&, i] {
          EXPECT_NE(std::this_thread::get_id(), loop_thread);
          worked.push_back(i);
        },
        [&, i] {
          EXPECT_EQ(std::this_thread::get_id(), loop_thread);
          done.push_back(i);
        });
  }
  executor.submit([&] { pthread_getname_np(pthread_self(), name, sizeof name); }, [] {});
  EXPECT_TRUE(loop.run_until([&] { return done.size() == 100; }, loop.now() + 10s));
  EXPECT_EQ(worked, done);
  executor.submit([] {}, [&] { done.clear(); });
  EXPECT_TRUE(loop.run_until([&] { return done.empty(); }, loop.now() + 10s));
  EXPECT_STREQ(name, "compute/0");
}

TEST(ThreadExecutor, FinishesTheRunningJobAndDropsTheWaitingOnesWhenDestroyed) {
  UvLoop loop;
  std::promise<void> started;
  std::promise<void> go_on;
  std::atomic<int> finished = 0;
  bool completed = false;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = held;
  {
    std::optional<ThreadExecutor> executor(std::in_place, loop, 1, "compute");
    executor->submit(
        [&] {
          started.set_value();
          go_on.get_future().wait();
          ++finished;
        },
        [&] { completed = true; });
    executor->submit([held = std::move(held), &finished] { ++finished; }, [] {});
    started.get_future().wait();
    std::thread release([&] {
      while (!watch.expired()) std::this_thread::yield();  // the destructor has dropped it
      go_on.set_value();
    });
    executor.reset();
    release.join();
  }
  EXPECT_EQ(finished, 1);
  EXPECT_TRUE(watch.expired());
  EXPECT_TRUE(loop.run_until([&] { return completed; }, loop.now() + 10s));
}

}  // namespace
}  // namespace sterna
