#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/server/scaler_board.h"

namespace sterna::actors {
namespace {

using testing::HasSubstr;
using testing::Optional;

constexpr std::uint32_t kRanks = 3;

/// Two scalers; the second is agreed at another shard.
ScalerBoard board(std::uint64_t first_step = 0, ScalerRule rule = ScalerRule::shared,
                  std::uint32_t quorum = 0, LostResiduals residuals = LostResiduals::rollback) {
  ParameterTable table;
  table.scalers = {{.tensor = 0, .count = 8, .shard = 0}, {.tensor = 1, .count = 8, .shard = 1}};
  JobConfig job;
  job.steps = 100;
  job.ranks = kRanks;
  job.first_step = first_step;
  job.gradient.scaler = rule;
  job.gradient.error_feedback = residuals == LostResiduals::zero;
  job.gradient.residuals = residuals;
  job.scheme.quorum = quorum;
  return {table, 0, job};
}

Offer offer(std::uint32_t rank, std::uint64_t step, float value, std::uint32_t index = 0) {
  return {.rank = rank, .step = step, .scalers = {{index, value}}};
}

TEST(ScalerBoard, AgreesOnTheLargestOnceAllRanksHaveOffered) {
  ScalerBoard board = sterna::actors::board();
  EXPECT_FALSE(*board.offer(offer(1, 0, 0.5F)));
  EXPECT_FALSE(*board.offer(offer(0, 0, 2.0F)));
  EXPECT_EQ(board.agreed(0, 0), std::nullopt);
  EXPECT_TRUE(*board.offer(offer(2, 0, 1.0F)));
  EXPECT_THAT(board.agreed(0, 0), Optional(2.0F));
}

TEST(ScalerBoard, OfRanksThatAreAveragedTheFirstOffers) {
  ParameterTable table;
  table.scalers = {{.tensor = 0, .count = 8, .shard = 0}};
  JobConfig job;
  job.steps = 100;
  job.ranks = 4;
  job.averaged_ranks = 2;
  job.gradient.host = HostRule::average;
  job.gradient.scaler = ScalerRule::mean;
  ScalerBoard board(table, 0, job);
  EXPECT_THAT(board.offer(offer(1, 0, 1.0F)).error().message,
              HasSubstr("rank 1 has no scalers of its own"));
  EXPECT_FALSE(*board.offer(offer(2, 0, 1.0F)));
  EXPECT_TRUE(*board.offer(offer(0, 0, 2.0F)));
  EXPECT_THAT(board.agreed(0, 0), Optional(1.5F));
}

TEST(ScalerBoard, AgreesOnTheMeanInWhateverOrderTheyCome) {
  ScalerBoard forward = board(0, ScalerRule::mean);
  ScalerBoard backward = board(0, ScalerRule::mean);
  const float values[] = {1e-8F, 1.0F, 0.3F};
  for (std::uint32_t i = 0; i < kRanks; ++i) {
    ASSERT_TRUE(forward.offer(offer(i, 0, values[i])).ok());
    ASSERT_TRUE(backward.offer(offer(kRanks - 1 - i, 0, values[kRanks - 1 - i])).ok());
  }
  EXPECT_THAT(forward.agreed(0, 0), Optional(testing::FloatEq((1e-8F + 1.0F + 0.3F) / 3)));
  EXPECT_EQ(forward.agreed(0, 0), backward.agreed(0, 0));
}

TEST(ScalerBoard, KeepsAStepWhileTheNextIsOffered) {
  ScalerBoard board = sterna::actors::board();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) ASSERT_TRUE(board.offer(offer(rank, 0, 3)));
  EXPECT_TRUE(board.offer(offer(0, 1, 1)));
  EXPECT_TRUE(board.offer(offer(1, 0, 3)));  // said again
  EXPECT_THAT(board.agreed(0, 0), Optional(3.0F));
  EXPECT_TRUE(board.offer(offer(1, 1, 1)));
  EXPECT_TRUE(*board.offer(offer(2, 1, 0)));
  EXPECT_THAT(board.agreed(1, 0), Optional(1.0F));
}

TEST(ScalerBoard, OfTwoStepsItKnowsTheScalersAndOfOlderOnesThatTheyAreGone) {
  ScalerBoard board = sterna::actors::board(4, ScalerRule::last_step);
  EXPECT_EQ(board.recall(4).error().code, Errc::not_found);
  for (const std::uint64_t step : {4, 5, 6}) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_TRUE(board.offer(offer(rank, step, static_cast<float>(step))).ok());
    }
  }
  EXPECT_EQ(*board.recall(6), std::vector{6.0F});  // that of the other shard is not known here
  EXPECT_EQ(*board.recall(5), std::vector{5.0F});
  EXPECT_EQ(board.recall(4).error().code, Errc::not_found);
  EXPECT_EQ(board.recall(7).error().code, Errc::not_found);
  EXPECT_TRUE(board.comes_to(7)) << "it is being agreed";
  EXPECT_TRUE(board.comes_to(8));
  EXPECT_FALSE(board.comes_to(9));
  EXPECT_FALSE(board.comes_to(6));
  EXPECT_FALSE(*board.offer(offer(0, 5, 5)));  // said again
  EXPECT_EQ(board.offer(offer(0, 4, 4)).error().code, Errc::not_found);
  EXPECT_EQ(board.offer(offer(0, 3, 4)).error().code, Errc::invalid_argument);  // never was
}

TEST(ScalerBoard, KnowsTheEarliestStepOfWhichARanksOwnIsMissing) {
  ScalerBoard board = sterna::actors::board(4);
  EXPECT_EQ(board.first_lacking(0), 4U);
  ASSERT_TRUE(board.offer(offer(0, 4, 1)).ok());
  EXPECT_EQ(board.first_lacking(0), 5U);
  EXPECT_EQ(board.first_lacking(1), 4U);
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    ASSERT_TRUE(board.offer(offer(rank, 4, 1)).ok());
  }
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) EXPECT_EQ(board.first_lacking(rank), 5U);
}

TEST(ScalerBoard, BeginsAtTheJobsFirstStep) {
  ScalerBoard board = sterna::actors::board(5);
  EXPECT_FALSE(board.offer(offer(0, 4, 1)).ok());
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) ASSERT_TRUE(board.offer(offer(rank, 5, 3)));
  EXPECT_THAT(board.agreed(5, 0), Optional(3.0F));
}

TEST(ScalerBoard, BelowAFullQuorumTheNewestIsTheLargestOfThoseThatCountAndNobodyWaits) {
  ScalerBoard board = sterna::actors::board(0, ScalerRule::last_step, 2);
  EXPECT_FALSE(*board.offer(offer(0, 0, 2)));
  EXPECT_THAT(board.agreed(0, 0), Optional(2.0F));
  EXPECT_FALSE(*board.offer(offer(0, 0, 9)));  // said again
  EXPECT_TRUE(*board.offer(offer(2, 0, 1)));
  EXPECT_THAT(board.agreed(0, 0), Optional(2.0F));
  EXPECT_FALSE(*board.offer(offer(1, 0, 7)));  // late: not counted, but answered
  EXPECT_THAT(board.agreed(0, 0), Optional(2.0F));
  EXPECT_FALSE(*board.offer(offer(1, 1, 0.5F)));
  EXPECT_THAT(board.agreed(1, 0), Optional(2.0F));
  // Version 3 is there already; what was offered of version 1 alone is of no use any more.
  EXPECT_FALSE(*board.offer(offer(0, 3, 0.25F)));
  EXPECT_FALSE(*board.offer(offer(2, 1, 8)));
  EXPECT_TRUE(*board.offer(offer(2, 3, 0.75F)));
  EXPECT_THAT(board.agreed(3, 0), Optional(0.75F));
  EXPECT_FALSE(board.offer(offer(0, 100, 1)).ok());
}

TEST(ScalerBoard, RefusesWhatBreaksTheRulesAndTakesNothingOfIt) {
  ScalerBoard board = sterna::actors::board();
  const auto refused = [&](const Offer& offer) { return board.offer(offer).error().message; };
  EXPECT_THAT(refused(offer(3, 0, 1)), HasSubstr("rank 3 of 3"));
  EXPECT_THAT(refused(offer(0, 1, 1)), HasSubstr("scaler 0 of step 1, at step 0"));
  EXPECT_THAT(refused(offer(0, 0, -1)), HasSubstr("scaler 0 of -1"));
  EXPECT_THAT(refused(offer(0, 0, std::numeric_limits<float>::quiet_NaN())), HasSubstr("nan"));
  EXPECT_THAT(refused(offer(0, 0, 1, 1)), HasSubstr("not agreed here"));
  EXPECT_THAT(refused(offer(0, 0, 1, 2)), HasSubstr("not agreed here"));
  Offer half = offer(0, 0, 1);
  half.scalers.push_back({7, 1});
  EXPECT_THAT(refused(half), HasSubstr("scaler 7"));
  ASSERT_TRUE(board.offer(offer(0, 0, 2)));
  EXPECT_THAT(refused(offer(0, 0, 1)), HasSubstr("twice"));
}

TEST(ScalerBoard, OfARankThatMayHaveLostItsResidualsTheFirstOfferCounts) {
  ScalerBoard board = sterna::actors::board(0, ScalerRule::shared, 0, LostResiduals::zero);
  ASSERT_TRUE(board.offer(offer(0, 0, 2)));
  ASSERT_TRUE(board.offer(offer(0, 0, 3)).ok());
  ASSERT_TRUE(board.offer(offer(1, 0, 1)));
  EXPECT_TRUE(*board.offer(offer(2, 0, 1)));
  EXPECT_THAT(board.agreed(0, 0), Optional(2.0F));
}

TEST(ScalerBoard, ACopyGoesOnWhereTheOtherIs) {
  ScalerBoard board = sterna::actors::board();
  for (std::uint64_t step = 0; step < 3; ++step) {
    EXPECT_FALSE(board.has_come_to(step + 1));
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_TRUE(board.offer(offer(rank, step, 1.0F + static_cast<float>(step))).ok());
    }
    EXPECT_TRUE(board.has_come_to(step + 1));
  }
  ScalerBoard copy = sterna::actors::board();
  ASSERT_TRUE(copy.take_copy(board.copy()).ok());
  EXPECT_THAT(copy.agreed(2, 0), Optional(3.0F));
  EXPECT_THAT(copy.agreed(1, 0), Optional(2.0F));
  EXPECT_EQ(copy.agreed(0, 0), std::nullopt);
  EXPECT_EQ(copy.first_lacking(0), 3U);
  // Who has the other's answer may be a step ahead of this one; no further.
  EXPECT_FALSE(copy.is_early(offer(0, 3, 1)));
  EXPECT_TRUE(copy.is_early(offer(0, 4, 1)));
  EXPECT_FALSE(copy.is_early(offer(0, 5, 1)));
  EXPECT_FALSE(copy.is_early(offer(0, 4, 1, 7)));
}

TEST(ScalerBoard, ACopyOfAnotherJobsIsRefused) {
  ScalerBoard board = sterna::actors::board(10);
  using Copies = std::vector<BoardCopy::Scaler>;
  EXPECT_FALSE(board.take_copy({}).ok());
  EXPECT_FALSE(board.take_copy(Copies(2, {.step = 12})).ok());
  EXPECT_FALSE(board.take_copy(Copies(1, {.step = 9})).ok());
  EXPECT_FALSE(board.take_copy(Copies(1, {.step = 101})).ok());
  EXPECT_FALSE(board.take_copy(Copies(1, {.step = 12, .known = 3})).ok());
  EXPECT_TRUE(board.take_copy(Copies(1, {.step = 12, .known = 2})).ok());
}

}  // namespace
}  // namespace sterna::actors
