#include "launcher/bench/pinned_pair.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <thread>

namespace sterna::launcher {
namespace {

cpu_set_t cores_of_this_thread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof(cores), &cores);
  return cores;
}

TEST(PinnedPair, RunsEachPartOnAThreadOfItsOwnAndWaitsForBoth) {
  PinnedPair pair;
  std::array<int, 2> runs{};
  std::array<std::thread::id, 2> threads;
  for (int round = 0; round < 3; ++round) {
    pair.run([&](int part) {
      const auto index = static_cast<std::size_t>(part);
      ++runs[index];
      threads[index] = std::this_thread::get_id();
    });
    EXPECT_EQ(runs, (std::array<int, 2>{round + 1, round + 1}));
  }
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[1], threads[0]);
}

TEST(PinnedPair, PinsTheCallerToOneCoreUntilItsEnd) {
  const cpu_set_t before = cores_of_this_thread();
  {
    const PinnedPair pair;
    const cpu_set_t pinned = cores_of_this_thread();
    EXPECT_EQ(CPU_COUNT(&pinned), 1);
  }
  const cpu_set_t after = cores_of_this_thread();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace sterna::launcher
