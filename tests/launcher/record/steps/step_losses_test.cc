#include "launcher/record/steps/step_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

actors::JobConfig job(std::uint32_t ranks) {
  actors::JobConfig job;
  job.first_step = 3;
  job.steps = 1'000'000;
  job.ranks = ranks;
  return job;
}

TEST(StepLosses, AStepIsTheMeanInTheOrderOfTheRanksWhoeverTellsFirst) {
  const double losses[] = {1e16, 1.0, -1e16};  // of which another order makes another sum
  for (const std::vector<std::uint32_t>& order :
       {std::vector{0U, 1U, 2U}, std::vector{2U, 0U, 1U}}) {
    StepLosses board(job(3));
    std::vector<LossMetrics> told;
    for (const std::uint32_t rank : order) {
      EXPECT_THAT(told, IsEmpty());
      told = board.add({.step = 3, .rank = rank, .loss = losses[rank], .decay_loss = 0.5});
    }
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].step, 4);
    EXPECT_EQ(told[0].loss, (1e16 + 1.0 - 1e16) / 3);
    EXPECT_EQ(told[0].decay_loss, 0.5);
    EXPECT_FALSE(told[0].rank);
  }
}

TEST(StepLosses, WhatIsToldTwiceLateOrOfNoRankIsIgnored) {
  StepLosses board(job(2));
  EXPECT_THAT(board.add({.step = 3, .rank = 0, .loss = 1}), IsEmpty());
  EXPECT_THAT(board.add({.step = 3, .rank = 0, .loss = 9}), IsEmpty());
  EXPECT_THAT(board.add({.step = 3, .rank = 2, .loss = 9}), IsEmpty());
  EXPECT_THAT(board.add({.step = 1'000'000, .rank = 1, .loss = 9}), IsEmpty());
  EXPECT_THAT(board.add({.step = 2, .rank = 1, .loss = 9}), IsEmpty());
  const std::vector<LossMetrics> told = board.add({.step = 3, .rank = 1, .loss = 3});
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].loss, 2);
  EXPECT_THAT(board.add({.step = 3, .rank = 1, .loss = 3}), IsEmpty());
}

// A worker that never speaks does not make the launcher grow.
TEST(StepLosses, KeepsOnlySoManyStepsThatAreNotWhole) {
  StepLosses board(job(65536));
  for (std::uint64_t step = 3; step < 103; ++step) board.add({.step = step, .rank = 0, .loss = 1});
  for (std::uint32_t rank = 1; rank < 65536; ++rank) {
    EXPECT_THAT(board.add({.step = 3, .rank = rank, .loss = 1}), IsEmpty()) << "its first is gone";
  }
}

TEST(StepLosses, RanksThatStepByThemselvesHaveTheirOwn) {
  actors::JobConfig async = job(2);
  async.scheme.name = "async";
  StepLosses board(async);
  const std::vector<LossMetrics> told =
      board.add({.step = 7, .rank = 1, .loss = 2, .decay_loss = 0.25});
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].step, 7);
  EXPECT_EQ(told[0].rank, 1);
  EXPECT_EQ(told[0].loss, 2);
}

}  // namespace
}  // namespace sterna::launcher
