#include "runtime/actor/watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr ActorId kHere{{1}, {5}};
constexpr ActorId kThere{{2}, {5}};
constexpr ActorId kBesideIt{{2}, {6}};

TEST(Watches, WhoWatchesIsNamedOnceAndInOrder) {
  Watches watches;
  EXPECT_TRUE(watches.add({9}, kThere));
  EXPECT_TRUE(watches.add({8}, kThere));
  EXPECT_FALSE(watches.add({9}, kThere));
  EXPECT_TRUE(watches.add({9}, kHere));
  EXPECT_THAT(watches.take_watchers_of(kThere), ElementsAre(LocalId{8}, LocalId{9}));
  EXPECT_THAT(watches.take_watchers_of(kThere), IsEmpty());
  EXPECT_THAT(watches.take_watchers_of(kHere), ElementsAre(LocalId{9}));
  EXPECT_EQ(watches.size(), 0U);
  EXPECT_TRUE(watches.add({9}, kThere));  // again, as it was told
}

TEST(Watches, WhoIsDeadIsForgottenAndNobodyElse) {
  Watches watches;
  for (const LocalId watcher : {LocalId{8}, LocalId{9}}) {
    EXPECT_TRUE(watches.add(watcher, kThere));
    EXPECT_TRUE(watches.add(watcher, kHere));
  }
  watches.forget({8});
  watches.forget({7});
  EXPECT_THAT(watches.take_watchers_of(kThere), ElementsAre(LocalId{9}));
  EXPECT_THAT(watches.take_watchers_of(kHere), ElementsAre(LocalId{9}));
}

TEST(Watches, OfAProcessAllAreKnownThatAnybodyWatches) {
  Watches watches;
  for (const ActorId watched : {kBesideIt, kThere, kHere}) EXPECT_TRUE(watches.add({8}, watched));
  EXPECT_TRUE(watches.add({9}, kThere));
  EXPECT_THAT(watches.watched_of({2}), ElementsAre(kThere, kBesideIt));
  EXPECT_THAT(watches.watched_of({3}), IsEmpty());
}

}  // namespace
}  // namespace sterna
