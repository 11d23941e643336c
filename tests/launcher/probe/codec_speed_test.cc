#include "launcher/probe/codec_speed.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

actors::JobConfig job_of_two_ranks() {
  actors::JobConfig job;
  job.ranks = 2;
  return job;
}

TEST(CodecSpeed, HasTheBytesThatEachCodecSends) {
  const auto costs = measure_codecs(job_of_two_ranks(), {"none", "ternary", "bf16"});
  ASSERT_TRUE(costs.ok()) << costs.error().message;
  ASSERT_EQ(costs->size(), 3U);
  EXPECT_EQ(costs->at(0).codec, "none");
  EXPECT_EQ(costs->at(0).bytes_up, 4);
  EXPECT_NEAR(costs->at(1).bytes_up, 0.25, 0.001);
  EXPECT_EQ(costs->at(2).bytes_up, 2);
  for (const CodecCost& cost : *costs) {
    EXPECT_EQ(cost.bytes_down, 4) << cost.codec;
    EXPECT_GT(cost.worker_seconds, 0) << cost.codec;
    EXPECT_GT(cost.server_seconds, 0) << cost.codec;
  }
}

TEST(CodecSpeed, OfACodecThatDoesNotExistIsAnError) {
  const auto costs = measure_codecs(job_of_two_ranks(), {"gzip"});
  ASSERT_FALSE(costs.ok());
  EXPECT_EQ(costs.error().message, "there is no codec \"gzip\"");
}

TEST(CodecSpeed, OfAnInstructionSetThatDoesNotExistIsAnError) {
  actors::JobConfig job = job_of_two_ranks();
  job.cpu_isa = "mmx";
  EXPECT_EQ(measure_codecs(job, {"none"}).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace sterna::launcher
