#include "nets/cpu/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

namespace sterna::nets {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 20U;  // bytes

TEST(Team, GoesOnceThroughEachElement) {
  for (const int threads : {1, 2, 5}) {
    const Team team(threads);
    for (const std::size_t count : {0U, 1U, 4U, 5U, 1001U}) {
      std::vector<std::atomic<int>> visits(count);
      team.share(count, kMuch, [&](std::size_t first, std::size_t end, std::size_t member) {
        EXPECT_LT(member, team.size());
        for (std::size_t i = first; i < end; ++i) ++visits[i];
      });
      for (const auto& visited : visits) EXPECT_EQ(visited, 1);
    }
  }
}

TEST(Team, SharesAmongAsManyAsItHas) {
  std::mutex mutex;
  std::set<std::size_t> members;
  Team(3).share(3, kMuch, [&](std::size_t first, std::size_t end, std::size_t member) {
    EXPECT_EQ(end, first + 1);
    const std::scoped_lock lock(mutex);
    members.insert(member);
  });
  EXPECT_EQ(members.size(), 3U);
}

TEST(Team, LeavesLittleToTheCaller) {
  std::size_t calls = 0;  // of one thread
  Team(4).share(100, 4, [&](std::size_t first, std::size_t end, std::size_t member) {
    EXPECT_EQ(first, 0U);
    EXPECT_EQ(end, 100U);
    EXPECT_EQ(member, 0U);
    ++calls;
  });
  EXPECT_EQ(calls, 1U);
}

TEST(Team, GivesNoTwoMembersAnElementOfOneLine) {
  constexpr std::size_t kCount = (std::size_t{1} << 20U) + 3;
  std::mutex mutex;
  std::size_t all = 0, calls = 0;
  Team(3).share_elements(kCount, 4, [&](std::size_t first, std::size_t count) {
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(first % 64, 0U);
    EXPECT_TRUE(count % 64 == 0 || first + count == kCount);
    all += count;
    ++calls;
  });
  EXPECT_EQ(all, kCount);
  EXPECT_EQ(calls, 3U);
}

}  // namespace
}  // namespace sterna::nets
