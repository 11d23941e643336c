#include "runtime/base/ids.h"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

namespace sterna {
namespace {

static_assert(!std::is_convertible_v<ProcessId, LocalId>);
static_assert(!std::is_convertible_v<ProcessId, std::uint64_t>);

TEST(Ids, ZeroStandsForNone) {
  EXPECT_FALSE(ProcessId{});
  EXPECT_TRUE(ProcessId{1});
  EXPECT_FALSE((ActorId{{1}, {}}));  // a process, but none of its actors
  EXPECT_TRUE((ActorId{{1}, {1}}));
}

TEST(Ids, ActorsOfManyProcessesAndGenerationsHashApart) {
  std::set<std::size_t> hashes;
  for (std::uint64_t process = 1; process <= 16; ++process) {
    for (std::uint64_t slot = 1; slot <= 16; ++slot) {
      for (std::uint64_t generation = 1; generation <= 4; ++generation) {
        hashes.insert(std::hash<ActorId>{}({{process}, {generation << 32 | slot}}));
      }
    }
  }
  EXPECT_EQ(hashes.size(), 16U * 16U * 4U);
}

}  // namespace
}  // namespace sterna
