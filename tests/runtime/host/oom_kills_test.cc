// Whose deaths for want of memory are counted: those of the own group; and what they explain.
#include "runtime/host/oom_kills.h"

#include <gtest/gtest.h>

#include "tests/runtime/host/made_system.h"

namespace sterna::test {
namespace {

class OomKillsTest : public MadeSystem {
 protected:
  std::uint64_t kills() const { return oom_kills_of_own_group(root()); }
};

TEST_F(OomKillsTest, OfTheOwnGroupCountAndOthersDoNot) {
  write("/proc/self/cgroup", "0::/mine\n");
  write("/sys/fs/cgroup/mine/memory.events", "low 0\nhigh 1\nmax 5\noom 3\noom_kill 2\n");
  write("/sys/fs/cgroup/others/memory.events", "oom_kill 70\n");
  write("/proc/vmstat", "oom_kill 72\n");
  EXPECT_EQ(kills(), 2U);
}

TEST_F(OomKillsTest, AreFoundInTheOlderHierarchyToo) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/mine\n4:memory:/mine\n0::/\n");
  write("/sys/fs/cgroup/memory/mine/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(kills(), 3U);
}

TEST_F(OomKillsTest, AreNoneWhereNothingIsCounted) {
  EXPECT_EQ(kills(), 0U);
  write("/proc/self/cgroup", "nonsense\n0::/gone\n");
  EXPECT_EQ(kills(), 0U);
}

TEST_F(OomKillsTest, EachExplainsOneDeathThatFollowsAtOnce) {
  using std::chrono::milliseconds;
  write("/proc/self/cgroup", "0::/mine\n");
  const auto killed_so_far = [&](int kills) {
    write("/sys/fs/cgroup/mine/memory.events", "oom_kill " + std::to_string(kills) + "\n");
  };
  killed_so_far(2);
  OomKills oom_kills(root());
  const Time start = Time() + std::chrono::hours(1);
  EXPECT_FALSE(oom_kills.explain(true, start)) << "of before";
  killed_so_far(4);
  EXPECT_FALSE(oom_kills.explain(false, start)) << "it ended by itself";
  EXPECT_TRUE(oom_kills.explain(true, start));
  EXPECT_TRUE(oom_kills.explain(true, start + milliseconds(20))) << "the other of the two";
  EXPECT_FALSE(oom_kills.explain(true, start + milliseconds(30)));
  killed_so_far(6);
  EXPECT_TRUE(oom_kills.explain(true, start + milliseconds(500)));
  EXPECT_FALSE(oom_kills.explain(true, start + milliseconds(9000)))
      << "it struck another, long ago";
}

}  // namespace
}  // namespace sterna::test
