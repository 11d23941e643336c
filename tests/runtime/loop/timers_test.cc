#include "runtime/loop/timers.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

struct Note final : Timers::Target {
  explicit Note(std::vector<int>& fired_list, int note_name) : fired(fired_list), name(note_name) {}
  void timer_fired() override { fired.push_back(name); }
  std::vector<int>& fired;
  int name;
};

TEST(Timers, FireInTheOrderOfTimeThenOfArming) {
  Timers timers;
  std::vector<int> fired;
  Note a(fired, 1);
  Note b(fired, 2);
  Note c(fired, 3);
  timers.arm({20}, a);
  timers.arm({10}, b);
  timers.arm({20}, c);
  EXPECT_EQ(timers.next(), Time{10});
  EXPECT_FALSE(timers.fire({20}, 10));
  EXPECT_EQ(fired, (std::vector<int>{2, 1, 3}));
  EXPECT_EQ(timers.next(), kNever);
}

TEST(Timers, ACancelledTimerNeverFiresAndItsIdIsNotReused) {
  Timers timers;
  std::vector<int> fired;
  Note a(fired, 1);
  Note b(fired, 2);
  const Timers::Id first = timers.arm({10}, a);
  timers.cancel(first);
  timers.arm({10}, b);
  timers.cancel(first);
  timers.fire({10}, 10);
  EXPECT_EQ(fired, std::vector<int>{2});
}

TEST(Timers, KeepToTheirBudget) {
  Timers timers;
  std::vector<int> fired;
  Note a(fired, 1);
  for (int i = 0; i < 5; ++i) timers.arm({i}, a);
  EXPECT_TRUE(timers.fire({10}, 3));
  EXPECT_EQ(fired.size(), 3U);
}

TEST(Timers, MemoryStaysBelowTwiceTheLiveTimers) {
  Timers timers;
  std::vector<int> fired;
  Note a(fired, 1);
  timers.arm({1}, a);
  for (int i = 0; i < 100000; ++i) timers.cancel(timers.arm({1000000 + i}, a));
  EXPECT_EQ(timers.armed(), 1U);
  EXPECT_LE(timers.heap_size(), 66U);
}

}  // namespace
}  // namespace sterna
