// Whose deaths for want of memory are counted: those of the own group.
#include "runtime/host/oom_kills.h"

#include <gtest/gtest.h>

#include "tests/runtime/host/made_system.h"

namespace sterna::test {
namespace {

class OomKills : public MadeSystem {
 protected:
  std::uint64_t kills() const { return oom_kills_of_own_group(root()); }
};

TEST_F(OomKills, OfTheOwnGroupCountAndOthersDoNot) {
  write("/proc/self/cgroup", "0::/mine\n");
  write("/sys/fs/cgroup/mine/memory.events", "low 0\nhigh 1\nmax 5\noom 3\noom_kill 2\n");
  write("/sys/fs/cgroup/others/memory.events", "oom_kill 70\n");
  write("/proc/vmstat", "oom_kill 72\n");
  EXPECT_EQ(kills(), 2U);
}

TEST_F(OomKills, AreFoundInTheOlderHierarchyToo) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/mine\n4:memory:/mine\n0::/\n");
  write("/sys/fs/cgroup/memory/mine/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(kills(), 3U);
}

TEST_F(OomKills, AreNoneWhereNothingIsCounted) {
  EXPECT_EQ(kills(), 0U);
  write("/proc/self/cgroup", "nonsense\n0::/gone\n");
  EXPECT_EQ(kills(), 0U);
}

}  // namespace
}  // namespace sterna::test
