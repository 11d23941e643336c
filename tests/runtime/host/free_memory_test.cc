// What a process may take: the least of what the machine has and what its groups leave.
#include "runtime/host/free_memory.h"

#include <gtest/gtest.h>

#include "tests/runtime/host/made_system.h"

namespace sterna::test {
namespace {

class FreeMemory : public MadeSystem {
 protected:
  void SetUp() override { write("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n"); }
};

TEST_F(FreeMemory, IsWhatTheKernelSaysIsAvailable) {
  EXPECT_EQ(free_memory(root()), 5000U * 1024U);
  write("/proc/self/cgroup", "0::/mine\n");
  write("/sys/fs/cgroup/mine/memory.max", "max\n");
  write("/sys/fs/cgroup/mine/memory.current", "400\n");
  EXPECT_EQ(free_memory(root()), 5000U * 1024U);
}

TEST_F(FreeMemory, IsAtMostWhatTheOwnGroupLeavesBesideItsFiles) {
  write("/proc/self/cgroup", "0::/mine\n");
  write("/sys/fs/cgroup/mine/memory.max", "1000\n");
  write("/sys/fs/cgroup/mine/memory.current", "700\n");
  EXPECT_EQ(free_memory(root()), 300U);
  write("/sys/fs/cgroup/mine/memory.stat", "anon 500\nfile 200\n");
  EXPECT_EQ(free_memory(root()), 500U);
  write("/sys/fs/cgroup/mine/memory.stat", "anon 400\nfile 300\nshmem 100\n");
  EXPECT_EQ(free_memory(root()), 500U) << "what is shared lies in no file";
  write("/sys/fs/cgroup/mine/memory.current", "1500\n");
  EXPECT_EQ(free_memory(root()), 0U);
}

TEST_F(FreeMemory, IsFoundInTheOlderHierarchyToo) {
  write("/proc/self/cgroup", "4:memory:/mine\n");
  write("/sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "1000\n");
  write("/sys/fs/cgroup/memory/mine/memory.usage_in_bytes", "600\n");
  write("/sys/fs/cgroup/memory/mine/memory.stat", "cache 50\nrss 550\n");
  EXPECT_EQ(free_memory(root()), 450U);
}

TEST_F(FreeMemory, IsUnknownWhereNothingSaysIt) {
  write("/proc/meminfo", "nonsense\n");
  EXPECT_FALSE(free_memory(root()).has_value());
}

}  // namespace
}  // namespace sterna::test
