// The policies of schemes that no rank waits in, and where exchanges are in the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/schemes/scheme.h"

namespace sterna::actors {
namespace {

using testing::ElementsAre;

class Apart : public testing::Test {
 protected:
  Apart() {
    job.first_step = 5;
    job.steps = 20;
    job.ranks = 3;
    job.batch = 4;
    job.scheme.name = "async";
  }
  std::unique_ptr<ServerPolicy> server() const {
    return find_scheme(job.scheme.name).value().server(job, false);
  }
  std::unique_ptr<WorkerPolicy> worker() const {
    return find_scheme(job.scheme.name).value().worker(job);
  }
  static Packet from(std::uint64_t version) {
    return {.chunk = 0, .payload = {}, .base_version = version};
  }

  JobConfig job;
};

TEST_F(Apart, EachPacketMakesAVersionUntilTheJobHasItsOwn) {
  const Push push{.step = 6, .packets = {}};
  EXPECT_TRUE(server()->one());
  EXPECT_TRUE(server()->complete({9, 1}));
  EXPECT_FALSE(server()->complete({9, 0}));
  EXPECT_EQ(*server()->judge(push, from(6), {9, 2}), Verdict::ACCEPTED);
  EXPECT_EQ(*server()->judge(push, from(6), {18, 1}), Verdict::ACCEPTED);
  EXPECT_EQ(*server()->judge(push, from(6), {18, 2}), Verdict::DROPPED);
  EXPECT_FALSE(server()->judge(push, from(10), {9, 0}).ok());
}

TEST_F(Apart, AStaleGradientCountsLessWhereTheFileSaysSo) {
  EXPECT_TRUE(server()->weights({{.rank = 1, .base_version = 6}}, 9).empty());
  job.scheme.staleness_weight = StalenessWeight::inverse;
  EXPECT_THAT(server()->weights({{.rank = 1, .base_version = 6}}, 9), ElementsAre(0.25F));
  EXPECT_THAT(server()->weights({{.rank = 1, .base_version = 9}}, 9), ElementsAre(1.0F));
  job.scheme.rank_rates = {1, 2, 3};
  EXPECT_THAT(server()->weights({{.rank = 1, .base_version = 6}}, 9), ElementsAre(0.5F));
}

TEST_F(Apart, ARankIsAtMostSoFarAheadOfTheLast) {
  EXPECT_TRUE(server()->may_begin(19, {19, 5, 6}));
  job.scheme.max_staleness = 2;
  EXPECT_TRUE(server()->may_begin(7, {7, 5, 6}));
  EXPECT_FALSE(server()->may_begin(8, {8, 5, 6}));
  job.scheme.max_staleness = 0;
  EXPECT_TRUE(server()->may_begin(6, {6, 6, 6}));
  EXPECT_FALSE(server()->may_begin(7, {7, 6, 7}));
}

TEST_F(Apart, AWindowIsSoManyStepsFromParametersToAPush) {
  job.scheme.name = "agn";
  job.scheme.window = 3;
  std::vector<std::uint64_t> pulls, pushes;
  for (std::uint64_t step = 15; step < 22; ++step) {  // of three a version
    const Exchange exchange = worker()->exchange(step);
    EXPECT_EQ(exchange.push, step / 3);
    if (exchange.pulls) pulls.push_back(step);
    if (exchange.pushes) pushes.push_back(step);
  }
  EXPECT_THAT(pulls, ElementsAre(15, 18, 21));
  EXPECT_THAT(pushes, ElementsAre(17, 20));
  EXPECT_EQ(worker()->contribution(5).examples, 12U);
}

TEST_F(Apart, ParametersComeRoundedButForTheFirstOfAJobThatBegins) {
  job.gradient.down = Down::parameters_bf16;
  for (const char* name : {"async", "downpour", "local_sgd", "aeasgd"}) {
    job.scheme.name = name;
    job.resumes = false;
    EXPECT_EQ(worker()->need(5).codec, Codec::FP32) << name;
    EXPECT_EQ(worker()->need(6).codec, Codec::BF16) << name;
    job.resumes = true;
    EXPECT_EQ(worker()->need(5).codec, Codec::BF16) << name;
  }
}

TEST_F(Apart, AnElasticRankMeetsTheServersAtTheStepsThatItsWindowDivides) {
  job.scheme.name = "aeasgd";
  job.scheme.window = 3;
  std::vector<std::uint64_t> pulls;
  const auto pushed = [&] {
    pulls.clear();
    std::vector<std::uint64_t> pushed;
    for (std::uint64_t step = job.first_own_step(); step < 25; ++step) {
      const Exchange exchange = worker()->exchange(step);
      if (exchange.pulls) pulls.push_back(step);
      if (exchange.pushes) pushed.push_back(exchange.push);
    }
    return pushed;
  };
  EXPECT_THAT(pushed(), ElementsAre(5, 6, 7));
  EXPECT_THAT(pulls, ElementsAre(15, 18, 21, 24));
  // What it has is not what the servers have, and the batches of its first window are behind it.
  job.resumes = true;
  EXPECT_THAT(pushed(), ElementsAre(5, 6, 7));
  EXPECT_THAT(pulls, ElementsAre(18, 21, 24));
  EXPECT_EQ(job.step_at_first_position(), 15U);
  EXPECT_EQ(job.end_of_steps(), 63U);
  EXPECT_EQ(worker()->contribution(5).kind, PayloadKind::DIFFERENCE);
}

}  // namespace
}  // namespace sterna::actors
