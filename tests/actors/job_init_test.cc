// Jobs that begin with the weights of another, and of which parts stay as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

class JobInit : public SimulatedJob {
 protected:
  JobInit() {
    job.steps = 3;
    job.evaluation.every = 2;
    weights = job.data.dir + "/before.safetensors";
    EXPECT_NE(hash_of({.workers = 2}), "");
    job.init.from = weights;
    weights = job.data.dir + "/after.safetensors";
    job.seed = 12;
    job.steps = 5;
  }
  void expect_the_plain_loop_in_every_shape() {
    const std::string plain = sequential_oracle(job);
    EXPECT_EQ(hash_of({.workers = 2}), plain);
    EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), plain);
  }
  /// The tensors that are in both files with the same bits.
  std::vector<std::string> unchanged() {
    const auto before = nets::read_safetensors(job.init.from).value();
    const auto after = nets::read_safetensors(weights).value();
    std::vector<std::string> names;
    for (std::size_t t = 0; t < before.tensors.size(); ++t) {
      if (before.tensors[t].values == after.tensors[t].values) {
        names.push_back(before.tensors[t].name);
      }
    }
    return names;
  }
};

TEST_F(JobInit, BeginsWithTheWeightsOfTheFile) {
  expect_the_plain_loop_in_every_shape();
  const std::string from_file = hash_of({.workers = 2});
  job.init.skip = {"logits"};
  expect_the_plain_loop_in_every_shape();
  EXPECT_NE(hash_of({.workers = 2}), from_file);
}

TEST_F(JobInit, TrainsOnlyWhatItIsToldTo) {
  job.init.skip = {"logits"};
  job.init.train_only = {"logits", "fc2/biases"};
  expect_the_plain_loop_in_every_shape();
  EXPECT_THAT(unchanged(), testing::ElementsAre("fc1/weights", "fc1/biases", "fc2/weights"));
}

TEST_F(JobInit, KeepsWhatLiesAboveThePartThatIsTrained) {
  job.init.train_only = {"fc1"};
  expect_the_plain_loop_in_every_shape();
  EXPECT_THAT(unchanged(),
              testing::ElementsAre("fc2/weights", "fc2/biases", "logits/weights", "logits/biases"));
}

TEST_F(JobInit, FreezesWhateverTravelsDown) {
  job.init.train_only = {"fc2", "logits"};
  job.optimizer.average_decay = 0.7;
  job.gradient.scaler = ScalerRule::shared;
  const std::string plain = sequential_oracle(job);
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), plain);
  job.gradient.down = Down::average;
  job.gradient.check_every = 2;
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), plain);
  job.gradient.down = Down::parameters_bf16;
  const std::string rounded = hash_of({.workers = 2});
  EXPECT_NE(rounded, "");
  EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), rounded);
  job.gradient.down = Down::ternary;
  const std::string ternary = hash_of({.workers = 2});
  EXPECT_NE(ternary, "");
  EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), ternary);
  EXPECT_THAT(unchanged(), testing::ElementsAre("fc1/weights", "fc1/biases"));
}

TEST_F(JobInit, FreezesWhereTheNextStepBeginsWithTheLastScalers) {
  job.init.train_only = {"logits"};
  job.gradient.scaler = ScalerRule::last_step;
  expect_the_plain_loop_in_every_shape();
  job.gradient.error_feedback = true;
  job.gradient.clip_norm = 0.5;
  EXPECT_EQ(hash_of({.workers = 2}), hash_of({.servers = 3, .workers = 2}));
  EXPECT_NE(hash_of({.workers = 2}), "");
}

TEST_F(JobInit, MovesTheStatisticsOfFrozenBatchNormsAllTheSame) {
  job.init = {};
  job.net = "resnet_20";
  job.hidden = {};
  job.steps = 2;
  weights = job.data.dir + "/resnet_before.safetensors";
  ASSERT_NE(hash_of({.workers = 2}), "");
  job.init.from = weights;
  job.init.train_only = {"logits"};
  weights = job.data.dir + "/resnet_after.safetensors";
  expect_the_plain_loop_in_every_shape();
  for (const std::string& name : unchanged()) {
    EXPECT_FALSE(name.ends_with("/mean") || name.ends_with("/variance")) << name;
  }
  EXPECT_EQ(unchanged().size(), 19U * 3);  // weights, beta and gamma of 19 convolutions
}

TEST_F(JobInit, EndsWithOneLineWhereAServerLacksTheFile) {
  job.init.from = "nowhere/weights.safetensors";
  launch({.servers = 2, .workers = 2});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_THAT(deaths.front(), testing::HasSubstr("this host has no nowhere/weights.safetensors"));
  EXPECT_THAT(deaths.front(), testing::HasSubstr("copy it there"));
}

TEST_F(JobInit, FindsTheFileInTheDataFolderOfTheHost) {
  const std::string plain = sequential_oracle(job);
  job.init.from = "some/other/place/before.safetensors";
  EXPECT_EQ(hash_of({.workers = 2}), plain);
}

}  // namespace
}  // namespace sterna::actors
