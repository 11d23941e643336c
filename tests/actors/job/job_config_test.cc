#include "actors/job/job.h"

#include <gtest/gtest.h>

#include <limits>

#include "actors/parameters/update_rule.h"
#include "runtime/message/packed_message.h"

namespace sterna::actors {
namespace {

JobConfig job() {
  JobConfig job;
  job.net = "lenet";
  job.steps = 1;
  return job;
}

std::string refusal_of(const JobConfig& job) {
  const Bytes packed = pack(job);
  const auto read = unpack<JobConfig>(packed.view());
  return read ? "" : read.error().message;
}

TEST(JobConfig, EvaluatesEveryNthVersionAndTheLast) {
  JobConfig job;
  job.steps = 10;
  job.evaluation.every = 4;
  std::vector<std::uint64_t> versions;
  for (std::uint64_t v = 0; v <= 12; ++v) {
    if (job.evaluates(v)) versions.push_back(v);
  }
  EXPECT_EQ(versions, (std::vector<std::uint64_t>{4, 8, 10}));
  job.evaluation.every = 0;
  EXPECT_EQ(job.next_evaluation(0), 10U);
  EXPECT_FALSE(job.evaluates(4));
  job.first_step = 5;
  job.evaluation.every = 5;
  EXPECT_FALSE(job.evaluates(5));
  EXPECT_EQ(job.next_evaluation(5), 10U);
}

TEST(JobConfig, WhereTrainingDoesNotWaitTheFirstVersionsAreNamedFromTheStart) {
  JobConfig job;
  job.steps = 100;
  job.evaluation.every = 10;
  EXPECT_FALSE(job.names_evaluations());
  EXPECT_TRUE(job.first_named().empty());
  job.evaluation.behind = Behind::skip;
  job.first_step = 20;
  EXPECT_TRUE(job.names_evaluations());
  EXPECT_EQ(job.first_named(), (std::vector<std::uint64_t>{30, 40, 50, 60}));
  job.first_step = 85;
  EXPECT_EQ(job.first_named(), (std::vector<std::uint64_t>{90, 100}));
  job.evaluation.every_seconds = 5;
  EXPECT_TRUE(job.first_named().empty()) << "nobody knows when";
  job.evaluation.behind = Behind::wait;
  EXPECT_TRUE(job.names_evaluations());
}

TEST(JobConfig, IsRefusedWithTheKeyThatNoActorCouldWorkWith) {
  EXPECT_EQ(refusal_of(job()), "");
  JobConfig measuring = job();
  measuring.net = "fixed_gradients";
  EXPECT_EQ(refusal_of(measuring), "");
  const auto refused = [](const auto& change) {
    JobConfig changed = job();
    change(changed);
    return refusal_of(changed);
  };
  EXPECT_EQ(refused([](JobConfig& j) { j.steps = 0; }),
            "\"job.steps\" must be at least 1 and at most 1000000000, not 0");
  EXPECT_EQ(refused([](JobConfig& j) { j.evaluation.subsets = {"valid"}; }),
            "\"evaluator.subsets\" knows \"test\" and \"train\", not \"valid\"");
  EXPECT_NE(refused([](JobConfig& j) {
              j.optimizer.learning_rate = std::numeric_limits<double>::quiet_NaN();
            }),
            "");
  EXPECT_EQ(
      refused([](JobConfig& j) {
        j.picture = {100, 100, 3};
        j.batch = 64;
        j.data.memory = {1'000'000};
      }),
      "data.memory = \"1MB\" is too little for a batch of 64 pictures of 100 x 100: set it to "
      "at least \"2MB\", or job.batch to at most 33");
  EXPECT_EQ(refused([](JobConfig& j) {
              j.picture = {1000, 1000, 3};
              j.data.memory = {1'000'000};
            }),
            "data.memory = \"1MB\" is too little for a batch of 32 pictures of 1000 x 1000: set it "
            "to at least \"97MB\"");
  EXPECT_EQ(refused([](JobConfig& j) { j.optimizer.numbers["beta1"] = 1; }),
            "\"optimizer.beta1\" must be at least 0 and below 1, not 1");
  EXPECT_NE(refused([](JobConfig& j) { j.optimizer.name = "adamw"; }), "");
  EXPECT_EQ(refused([](JobConfig& j) {
              j.optimizer.name = "adam";
              j.optimizer.schedule = "cosine";
            }),
            "");
  EXPECT_EQ(refused([](JobConfig& j) { j.gradient.codec = "auto"; }),
            "gradient.codec: must be chosen");
  EXPECT_NE(refused([](JobConfig& j) { j.gradient.tensors["a"] = "gzip"; }), "");
  EXPECT_NE(refused([](JobConfig& j) { j.gradient.down = Down::average; }), "");
  EXPECT_NE(refused([](JobConfig& j) { j.hidden.assign(kMostHiddenLayers + 1, 1); }), "");
  EXPECT_NE(refused([](JobConfig& j) { j.ranks = 65537; }), "");
  EXPECT_NE(refused([](JobConfig& j) { j.shards = kMostShards + 1; }), "");
}

TEST(JobConfig, CountsDropsOfTheLearningRateInEpochsOfAllRanks) {
  JobConfig exponential = job();
  exponential.batch = 4;
  exponential.ranks = 2;
  exponential.examples = 100;
  EXPECT_EQ(exponential.course().steps_per_epoch, 12.5);
}

TEST(JobConfig, CountsExamplesThatWereSeenInOtherBatchesAsPartsOfItsEpochs) {
  JobConfig exponential = job();
  exponential.batch = 4;
  exponential.ranks = 2;
  exponential.examples = 80;  // 10 steps
  exponential.optimizer.learning_rate = 1;
  exponential.optimizer.schedule = "exponential";
  exponential.optimizer.numbers["decay_factor"] = 0.5;
  exponential.optimizer.numbers["epochs_per_decay"] = 1;
  exponential.first_step = 5;
  exponential.first_position = 40;
  const kernels::LearningRate before = learning_rate_of(exponential).value();
  EXPECT_EQ(before(9), 1);
  EXPECT_EQ(before(10), 0.5);
  exponential.first_position = 80;  // of 16 a step
  const kernels::LearningRate other = learning_rate_of(exponential).value();
  EXPECT_EQ(other(5), 0.5);
  EXPECT_EQ(other(14), 0.5);
  EXPECT_EQ(other(15), 0.25);
}

}  // namespace
}  // namespace sterna::actors
