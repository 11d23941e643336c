#include "actors/worker/ranks/net_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/describe_net.h"
#include "nets/net_options.h"

namespace sterna::actors {
namespace {

using testing::HasSubstr;

JobConfig job() {
  JobConfig job;
  job.net = "cifarnet";
  job.batch = 64;
  job.picture = {24, 24, 3};
  return job;
}

std::uint64_t takes(std::uint32_t batch, std::uint32_t micro_batch = 0) {
  JobConfig one = job();
  one.batch = batch;
  one.micro_batch = micro_batch;
  return nets::describe_net(net_options(one)).value().training_bytes();
}

TEST(NetMemory, RanksInStepTakeTurnsOnANetACore) {
  JobConfig one = job();
  one.ranks = 64;
  EXPECT_EQ(replicas_of(one, 64, 2), 2U);
  EXPECT_EQ(replicas_of(one, 1, 2), 1U);
  EXPECT_EQ(replicas_of(one, 4, 0), 1U);
  one.scheme.quorum = 63;  // whoever is late has other parameters
  EXPECT_EQ(replicas_of(one, 64, 2), 64U);
}

TEST(NetMemory, WhatFitsIsTaken) {
  EXPECT_TRUE(check_nets_fit(job(), 1, 1, takes(64)).ok());
  EXPECT_TRUE(check_nets_fit(job(), 3, 3, 3 * takes(64)).ok());
  EXPECT_TRUE(check_nets_fit(job(), 1, 1, std::nullopt).ok());
}

TEST(NetMemory, WhatDoesNotIsRefusedWithWhatWould) {
  const auto refused = check_nets_fit(job(), 1, 1, takes(64) - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::overloaded);
  EXPECT_THAT(refused.error().message, HasSubstr("cifarnet at 64 images at once takes"));
  EXPECT_THAT(refused.error().message, HasSubstr("job.batch to at most 63"));
  EXPECT_THAT(check_nets_fit(job(), 2, 2, 2 * takes(64, 16)).error().message,
              HasSubstr("set job.micro_batch to 16, or job.batch to at most"));
}

TEST(NetMemory, WhatRanksKeepBetweenStepsCounts) {
  JobConfig one = job();
  EXPECT_EQ(*numbers_of_ranks(one, 1, 1), 0U);
  one.gradient.error_feedback = true;
  EXPECT_EQ(*numbers_of_ranks(one, 1, 1), 2U);  // of two steps, for the next worker
  one.restarts_workers = false;
  EXPECT_EQ(*numbers_of_ranks(one, 1, 1), 1U);
  EXPECT_TRUE(check_nets_fit(one, 1, 1, 2 * takes(64)).ok());
  EXPECT_THAT(check_nets_fit(one, 64, 1, 2 * takes(64)).error().message,
              HasSubstr("for what 64 ranks keep between steps"));
  one.gradient.error_feedback = false;
  one.scheme.name = "local_sgd";
  one.local_optimizer.name = "adam";
  EXPECT_EQ(*numbers_of_ranks(one, 1, 1), 4U);  // two slots, the difference, and from where
  one.scheme.name = "aeasgd";
  EXPECT_EQ(*numbers_of_ranks(one, 1, 1), 6U);
  EXPECT_EQ(*numbers_of_ranks(one, 3, 3), 18U);
}

TEST(NetMemory, RanksThatAreAveragedKeepOneSumAndOneResidual) {
  JobConfig one = job();
  one.ranks = one.averaged_ranks = 8;
  one.gradient.host = HostRule::average;
  EXPECT_EQ(*numbers_of_ranks(one, 8, 1), 1U);
  EXPECT_EQ(*numbers_of_ranks(one, 8, 2), 2U);  // and what the second net is early with
  one.gradient.error_feedback = true;
  EXPECT_EQ(*numbers_of_ranks(one, 8, 1), 3U);
  one.gradient.clip_norm = 1;
  EXPECT_EQ(*numbers_of_ranks(one, 8, 1), 11U);
}

TEST(NetMemory, OneImageMayFitWhereItsPassesSumsDoNot) {
  EXPECT_THAT(check_nets_fit(job(), 1, 1, takes(1)).error().message,
              HasSubstr("set job.batch to at most 1, without job.micro_batch"));
}

TEST(NetMemory, ANetThatDoesNotFitAtAllIsRefusedWithoutANumber) {
  EXPECT_THAT(check_nets_fit(job(), 1, 1, 1000).error().message,
              HasSubstr("not even one image fits"));
}

}  // namespace
}  // namespace sterna::actors
