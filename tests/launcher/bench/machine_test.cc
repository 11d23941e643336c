// What benchmarks have of the machine: its memory, its cores, a folder for logs.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <filesystem>
#include <thread>

#include "launcher/bench/huge_buffer.h"
#include "launcher/bench/logs.h"
#include "launcher/bench/memory_speed.h"
#include "launcher/bench/pinned_pair.h"

namespace sterna::launcher {
namespace {

TEST(HugeBuffer, IsZeroedAndStartsAtAHugePage) {
  const HugeBuffer buffer = HugeBuffer::allocate(1000).value();
  EXPECT_EQ(buffer.bytes().size(), 1000U);
  EXPECT_EQ(buffer.floats().size(), 250U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % (std::size_t{2} << 20), 0U);
  for (const std::byte byte : buffer.bytes()) EXPECT_EQ(byte, std::byte{});
}

TEST(HugeBuffer, MovesWithWhatIsInIt) {
  HugeBuffer buffer = HugeBuffer::allocate(8).value();
  buffer.floats()[1] = 3;
  const HugeBuffer moved = std::move(buffer);
  EXPECT_EQ(moved.floats()[1], 3);
}

TEST(ReadAll, DependsOnEveryFloatOnEveryInstructionSet) {
  for (const kernels::Isa isa : {kernels::Isa::scalar, kernels::best_isa()}) {
    for (const std::size_t count : {1U, 63U, 64U, 130U, 1000U}) {
      std::vector<float> values(count, 1.0F);
      const std::uint32_t all = read_all(values, isa);
      for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
        values[i] = -2.0F;
        EXPECT_NE(read_all(values, isa), all) << i << " of " << count;
        values[i] = 1.0F;
      }
    }
  }
}

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

TEST(BenchLogs, AreKeptUntilTheyAreDiscarded) {
  const BenchLogs logs = BenchLogs::create().value();
  EXPECT_TRUE(std::filesystem::is_directory(logs.path()));
  EXPECT_EQ(logs.explain({Errc::io, "it failed"}).message, "it failed; logs are in " + logs.path());
  logs.discard();
  EXPECT_FALSE(std::filesystem::exists(logs.path()));
}

}  // namespace
}  // namespace sterna::launcher
