#include "actors/worker/net_memory.h"

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

TEST(NetMemory, WhatFitsIsTaken) {
  EXPECT_TRUE(check_nets_fit(job(), 1, takes(64)).ok());
  EXPECT_TRUE(check_nets_fit(job(), 3, 3 * takes(64)).ok());
  EXPECT_TRUE(check_nets_fit(job(), 1, std::nullopt).ok());
}

TEST(NetMemory, WhatDoesNotIsRefusedWithWhatWould) {
  const auto refused = check_nets_fit(job(), 1, takes(64) - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::overloaded);
  EXPECT_THAT(refused.error().message, HasSubstr("cifarnet at 64 images at once takes"));
  EXPECT_THAT(refused.error().message, HasSubstr("job.batch to at most 63"));
  EXPECT_THAT(check_nets_fit(job(), 2, 2 * takes(64, 16)).error().message,
              HasSubstr("set job.micro_batch to 16, or job.batch to at most"));
}

TEST(NetMemory, OneImageMayFitWhereItsPassesSumsDoNot) {
  EXPECT_THAT(check_nets_fit(job(), 1, takes(1)).error().message,
              HasSubstr("set job.batch to at most 1, without job.micro_batch"));
}

TEST(NetMemory, ANetThatDoesNotFitAtAllIsRefusedWithoutANumber) {
  EXPECT_THAT(check_nets_fit(job(), 1, 1000).error().message, HasSubstr("not even one image fits"));
}

}  // namespace
}  // namespace sterna::actors
