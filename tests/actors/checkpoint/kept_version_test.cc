#include "actors/checkpoint/kept_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

using testing::ElementsAre;

class KeptVersionTest : public testing::Test {
 protected:
  static JobConfig every_hundred() {
    JobConfig job;
    job.steps = 1000;
    job.checkpoint.every_steps = 100;
    return job;
  }
  static std::vector<StatePiece> piece(const char* name) {
    std::vector<StatePiece> pieces;
    pieces.push_back({name, 0, {}});
    return pieces;
  }
  /// What a holder does at a version; whether it added something.
  bool comes_to(std::uint64_t version) {
    if (!kept.due(version) || !kept.gathers(version)) return false;
    kept.add(version, piece("one"));
    return true;
  }

  KeptVersion kept{every_hundred(), 2};
};

TEST_F(KeptVersionTest, IsWholeOnceAllHoldersHaveAdded) {
  EXPECT_FALSE(comes_to(99));
  EXPECT_TRUE(comes_to(100));
  EXPECT_FALSE(kept.take());
  EXPECT_TRUE(comes_to(100));
  const std::optional<StatePart> part = kept.take();
  ASSERT_TRUE(part);
  EXPECT_EQ(part->version, 100U);
  EXPECT_EQ(part->pieces.size(), 2U);
}

TEST_F(KeptVersionTest, OneThatIsDueDuringAnotherIsSkippedByAll) {
  comes_to(100), comes_to(100);
  ASSERT_TRUE(kept.take());
  EXPECT_FALSE(comes_to(200));
  kept.written();
  EXPECT_FALSE(comes_to(200)) << "the other holder has not added to it";
  EXPECT_THAT(kept.take_skipped(), ElementsAre(200));
  EXPECT_TRUE(comes_to(300));
}

// Else what is said of the one that was skipped would overtake the part that is still written, and
// that would be of no use any more.
TEST_F(KeptVersionTest, ThatOneWasSkippedIsSaidOnceTheOneBeforeIsWritten) {
  comes_to(100);
  comes_to(200);
  EXPECT_THAT(kept.take_skipped(), ElementsAre()) << "the other holder adds to 100 yet";
  comes_to(100);
  ASSERT_TRUE(kept.take());
  EXPECT_THAT(kept.take_skipped(), ElementsAre()) << "it is being written";
  comes_to(1000);
  kept.written();
  EXPECT_THAT(kept.take_skipped(), ElementsAre(200)) << "before the last, which is not whole yet";
}

// Ranks that step by themselves are far apart.
TEST_F(KeptVersionTest, AHolderThatIsLateAddsToWhatOthersHaveBegun) {
  EXPECT_TRUE(comes_to(100));
  EXPECT_FALSE(comes_to(200));
  EXPECT_FALSE(comes_to(300));
  EXPECT_TRUE(comes_to(100));
  EXPECT_EQ(kept.take()->version, 100U);
  kept.written();
  EXPECT_FALSE(comes_to(200));
  EXPECT_FALSE(comes_to(300));
  EXPECT_THAT(kept.take_skipped(), ElementsAre(200, 300)) << "each once";
}

TEST_F(KeptVersionTest, TheLastOfTheJobWaitsWhereOthersWouldBeSkipped) {
  comes_to(900), comes_to(900);
  ASSERT_TRUE(kept.take());
  EXPECT_TRUE(comes_to(1000));
  EXPECT_TRUE(comes_to(1000));
  EXPECT_FALSE(kept.take()) << "the one before is being written";
  kept.written();
  EXPECT_EQ(kept.take()->version, 1000U);
  kept.written();
  EXPECT_FALSE(kept.take());
  EXPECT_THAT(kept.take_skipped(), ElementsAre());
}

TEST_F(KeptVersionTest, TheLastIsGatheredBesideOneThatIsNotWholeYet) {
  EXPECT_TRUE(comes_to(900));
  EXPECT_TRUE(comes_to(1000));
  EXPECT_TRUE(comes_to(900));
  EXPECT_TRUE(comes_to(1000));
  EXPECT_EQ(kept.take()->version, 900U);
  kept.written();
  const std::optional<StatePart> last = kept.take();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->version, 1000U);
  EXPECT_EQ(last->pieces.size(), 2U);
}

TEST_F(KeptVersionTest, ANamedOneThatHasBegunIsCompletedThoughAnotherIsNamed) {
  kept.name(150);
  EXPECT_TRUE(comes_to(150));
  kept.name(170);
  EXPECT_TRUE(comes_to(150));
  ASSERT_TRUE(kept.take());
  EXPECT_TRUE(kept.due(170));
  EXPECT_FALSE(kept.due(150));
}

}  // namespace
}  // namespace sterna::actors
