#include "actors/server/shard/promised_versions.h"

#include <gtest/gtest.h>

#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

using Chunks = std::set<std::uint32_t>;
using Versions = std::set<std::uint64_t>;

constexpr std::uint32_t kChunks = 2;

class PromisedVersionsTest : public ::testing::Test {
 protected:
  PromisedVersionsTest() {
    job.first_step = 10;
    job.steps = 100;
    job.evaluation.every = 1;
  }
  void evaluator_names_versions() {
    job.evaluation.every = 0;
    job.evaluation.every_seconds = 1;
  }
  PromisedVersions make() {
    policy = find_scheme("sync")->server(job, true);
    return {job, *policy, kChunks};
  }
  /// As an update of all chunks does.
  static void update(PromisedVersions& promised, std::uint64_t version) {
    promised.begin(version);
    if (!promised.promises(version)) return;
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) promised.keep(chunk, version, {});
  }
  static std::uint64_t up_to_the_most(PromisedVersions& promised) {
    std::uint64_t version = 10;
    while (promised.kept(0).size() < PromisedVersions::kMaxSnapshots) update(promised, ++version);
    return version;
  }

  JobConfig job;
  std::unique_ptr<ServerPolicy> policy;
};

TEST_F(PromisedVersionsTest, NoVersionIsPromisedThatAnUpdateHasBegunToMake) {
  evaluator_names_versions();
  PromisedVersions promised = make();
  EXPECT_FALSE(promised.reserve(10)->reserved) << "it is there from the start";
  promised.begin(12);
  const Result<Reserved> late = promised.reserve(12);
  EXPECT_FALSE(late->reserved);
  EXPECT_EQ(late->first, 13U);
  EXPECT_FALSE(promised.promises(12));
  EXPECT_TRUE(promised.reserve(13)->reserved);
  EXPECT_TRUE(promised.promises(13));
  EXPECT_EQ(promised.named(), Versions{13});
  EXPECT_FALSE(promised.reserve(100).ok()) << "the last is not the evaluator's to choose";
}

TEST_F(PromisedVersionsTest, AVersionIsKeptUntilItIsReleasedAndNoOther) {
  evaluator_names_versions();
  PromisedVersions promised = make();
  for (const std::uint64_t version : {11U, 13U}) EXPECT_TRUE(promised.reserve(version)->reserved);
  for (std::uint64_t version = 11; version <= 14; ++version) update(promised, version);
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    EXPECT_NE(promised.kept(chunk, 11), nullptr);
    EXPECT_EQ(promised.kept(chunk, 12), nullptr);
  }
  promised.release(11);
  EXPECT_EQ(promised.kept(0, 11), nullptr);
  EXPECT_NE(promised.kept(0, 13), nullptr);
  EXPECT_EQ(promised.named(), Versions{13});
}

TEST_F(PromisedVersionsTest, WhatIsReleasedBeforeItIsMadeIsNotKept) {
  evaluator_names_versions();
  PromisedVersions promised = make();
  EXPECT_TRUE(promised.reserve(12)->reserved);
  promised.release(12);
  update(promised, 12);
  EXPECT_EQ(promised.kept(0, 12), nullptr);
}

TEST_F(PromisedVersionsTest, ConcludedAreAllUpToAVersion) {
  evaluator_names_versions();
  PromisedVersions promised = make();
  for (const std::uint64_t version : {11U, 12U, 13U}) EXPECT_TRUE(promised.reserve(version).ok());
  update(promised, 11);
  promised.conclude(12);
  EXPECT_EQ(promised.kept(0, 11), nullptr);
  update(promised, 12);
  update(promised, 13);
  EXPECT_EQ(promised.kept(0, 12), nullptr) << "it was done with before it was made";
  EXPECT_NE(promised.kept(0, 13), nullptr);
  EXPECT_EQ(promised.named(), Versions{13});
}

TEST_F(PromisedVersionsTest, AnUpdateThatWouldMakeOneSnapshotTooManyIsHeldBackUntilOneIsReleased) {
  job.evaluation.every = 2;
  PromisedVersions promised = make();
  const std::uint64_t newest = up_to_the_most(promised);
  EXPECT_TRUE(promised.may_begin(1, newest + 1)) << "nobody takes that version";
  EXPECT_FALSE(promised.holds_back());
  EXPECT_FALSE(promised.may_begin(1, newest + 2));
  EXPECT_TRUE(promised.holds_back());
  EXPECT_EQ(promised.take_freed(), Chunks{});
  promised.release(12);
  EXPECT_FALSE(promised.holds_back());
  EXPECT_EQ(promised.take_freed(), Chunks{1});
  EXPECT_EQ(promised.take_freed(), Chunks{}) << "once";
  EXPECT_TRUE(promised.may_begin(1, newest + 2));
}

TEST_F(PromisedVersionsTest, WhatIsReleasedForNothingLetsAnUpdateTryAgainAndBeHeldBack) {
  PromisedVersions promised = make();
  const std::uint64_t newest = up_to_the_most(promised);
  EXPECT_FALSE(promised.may_begin(0, newest + 1));
  promised.release(99);
  EXPECT_EQ(promised.take_freed(), Chunks{0});
  EXPECT_FALSE(promised.may_begin(0, newest + 1));
  EXPECT_TRUE(promised.holds_back());
}

TEST_F(PromisedVersionsTest, AnUpdateOfAllChunksWaitsForTheOneThatHasTheMost) {
  PromisedVersions promised = make();
  for (std::uint64_t version = 11; version <= 15; ++version) {
    EXPECT_TRUE(promised.may_begin(version));
    promised.keep(1, version, {});
  }
  EXPECT_FALSE(promised.may_begin(16));
  EXPECT_TRUE(promised.holds_back());
  promised.conclude(11);
  EXPECT_EQ(promised.take_freed(), Chunks{}) << "others make it";
  EXPECT_TRUE(promised.may_begin(16));
  EXPECT_FALSE(promised.holds_back());
}

TEST_F(PromisedVersionsTest, PromisesWhatAnotherServerOfTheShardHasPromisedAndNothingElse) {
  job.evaluation.every = 5;
  job.evaluation.behind = Behind::skip;  // then some are named from the start
  PromisedVersions promised = make();
  EXPECT_EQ(promised.named(), (Versions{15, 20, 25, 30}));
  promised.begin(22);
  EXPECT_TRUE(promised.reserve_as({20, 25, 40}).ok()) << "also one that is being made";
  EXPECT_EQ(promised.named(), (Versions{20, 25, 40}));
  for (const std::uint64_t version : {20U, 25U, 40U}) EXPECT_TRUE(promised.promises(version));
  for (const std::uint64_t version : {15U, 30U}) EXPECT_FALSE(promised.promises(version));
  const Result<void> wrong = promised.reserve_as({100});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, Errc::malformed);
}

TEST_F(PromisedVersionsTest, WhateverIsAskedWheneverEachChunkKeepsWhatIsPromisedAndNoMore) {
  evaluator_names_versions();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SeededRandom random(seed);
    PromisedVersions promised = make();
    Versions owed;  // that were promised, and are not done with
    std::uint64_t version = 10;
    while (version < 90) {
      const std::uint64_t near = version - 3 + random.below(8);
      switch (random.below(4)) {
        case 0: {
          const Result<Reserved> reserved = promised.reserve(near);
          if (reserved && reserved->reserved) owed.insert(near);
          break;
        }
        case 1:
          promised.release(near);
          owed.erase(near);
          break;
        case 2:
          if (random.below(8) > 0) break;
          promised.conclude(near);
          owed.erase(owed.begin(), owed.upper_bound(near));
          break;
        default:
          ASSERT_TRUE(promised.may_begin(version + 1)) << "what is named is never too much";
          update(promised, ++version);
      }
      EXPECT_EQ(promised.named(), owed);
      for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
        Versions kept;
        for (const auto& [one, snapshot] : promised.kept(chunk)) kept.insert(one);
        EXPECT_EQ(kept, Versions(owed.begin(), owed.upper_bound(version))) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace sterna::actors
