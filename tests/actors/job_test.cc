// One job in many shapes: the same bits each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/weights/model_note.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"
#include "tests/actors/train_locally.h"

namespace sterna::actors {
namespace {

using JobTest = SimulatedJob;

TEST_F(JobTest, TwoWorkersTrainAsOnePlainLoopWouldAndTheLossFalls) {
  train_lenet();
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  ASSERT_FALSE(record.progress.empty());
  ASSERT_EQ(record.done.size(), 2U);
  EXPECT_LT(record.done[0].loss, 0.5 * record.progress.front().loss);
}

TEST_F(JobTest, ServersReadersPlacementAndDelaysDoNotChangeABit) {
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 2}), hash);
  EXPECT_EQ(hash_of({.workers = 2, .one_process = true}), hash);
  network.set_delay([this](const std::string&, const std::string&) {
    return Duration(static_cast<std::int64_t>(random.below(20000000)));
  });
  EXPECT_EQ(hash_of({.servers = 2, .readers = 2, .workers = 2}), hash);
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobTest, RanksThatTakeTurnsOnOneNetTrainAsIfEachHadItsOwn) {
  job.steps = 8;
  job.gradient.clip_norm = 1;
  job.gradient.check_every = 3;
  job.evaluation.every = 4;
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    job.gradient.error_feedback = !job.gradient.error_feedback;
    const std::string hash = hash_of({.workers = 1, .ranks_per_worker = 5, .cores = 5});
    EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 5, .cores = 1}), hash);
    EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 5, .cores = 2}), hash);
    EXPECT_EQ(hash_of({.workers = 5}), hash);
    EXPECT_TRUE(deaths.empty());
  }
}

TEST_F(JobTest, AStepMayTakeLongerThanADeadline) {
  job.gradient.scaler = ScalerRule::shared;
  const std::string hash = hash_of({.workers = 2});
  // worker1's parameters, its offers and their answers, and its pushes: four delays a step, of
  // which no question of its own waits for more than two.
  job.deadlines.step = std::chrono::seconds(3);
  network.set_delay([](const std::string& from, const std::string& to) {
    const bool far = from.starts_with("worker1") || to.starts_with("worker1");
    const bool server = from.starts_with("server") || to.starts_with("server");
    return far && server ? Duration(std::chrono::seconds(1)) : Duration::zero();
  });
  EXPECT_EQ(hash_of({.workers = 2}), hash);
  EXPECT_TRUE(deaths.empty());
}

TEST_F(JobTest, HowManyReadersShareTheExamplesDoesNotChangeABit) {
  const std::string hash = hash_of({.workers = 2});
  for (const std::uint32_t shards : {1U, 2U, 7U}) {
    job.shards = shards;
    EXPECT_EQ(hash_of({.readers = shards, .workers = 2}), hash) << shards;
  }
  network.set_delay([this](const std::string&, const std::string&) {
    return Duration(static_cast<std::int64_t>(random.below(20000000)));
  });
  EXPECT_EQ(hash_of({.servers = 2, .readers = 7, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobTest, ABatchOfAnySizeTravelsInPieces) {
  job.batch = 700;  // 2.2 MB
  job.steps = 3;
  const std::string hash = hash_of({.readers = 2, .workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  job.shards = 3;
  EXPECT_EQ(hash_of({.readers = 3, .workers = 2}), hash);
}

// A link holds much less than the parameters, the gradients of all ranks, or a batch.
TEST_F(JobTest, WhatALinkHasNoRoomForWaits) {
  job.batch = 100;
  job.steps = 3;
  job.gradient.codec = "none";
  const std::string hash = hash_of({.workers = 1, .ranks_per_worker = 4});
  options.window[1] = 128U << 10;
  EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 4}), hash);
  EXPECT_EQ(hash_of({.servers = 2, .readers = 2, .workers = 2, .ranks_per_worker = 2}), hash);
  EXPECT_THAT(log, testing::Not(testing::Contains(testing::HasSubstr("dropped"))));
}

TEST_F(JobTest, StepsAndVersionsMayStartAboveZero) {
  job.first_step = 18;
  job.gradient.scaler = ScalerRule::last_step;
  job.gradient.down = Down::average;
  job.gradient.check_every = 4;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
  EXPECT_EQ(record.progress.front().step, 19U);
  ASSERT_EQ(record.evaluated.size(), 2U);
  EXPECT_EQ(record.evaluated[0].step, 20U);
  EXPECT_EQ(record.evaluated[1].step, 30U);
  EXPECT_EQ(record.done[0].steps, 30U);
  EXPECT_EQ(hash, sequential_oracle(job));
}

TEST_F(JobTest, AdamTrainsTheSameWay) {
  job.optimizer.name = "adam";
  job.optimizer.learning_rate = 1e-3;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_GT(record.evaluated.back().precision_at_1, 0.5);
  EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

// Whether the slots start as the rule says wherever they are made.
TEST_F(JobTest, EveryOptimizerTrainsAsOnePlainLoopWould) {
  job.steps = 6;
  job.optimizer.schedule = "cosine";
  job.optimizer.warm_up = 3;
  job.optimizer.scale_by_ranks = true;
  job.optimizer.decay_at = DecayAt::server;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.check_every = 2;
  for (const char* name : {"nesterov", "adamw", "rmsprop", "adagrad"}) {
    job.optimizer.name = name;
    job.gradient.down = Down::parameters;
    const std::string hash = hash_of({.workers = 2});
    EXPECT_EQ(hash, sequential_oracle(job)) << name;
    job.gradient.down = Down::average;
    EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash) << name;
  }
}

TEST_F(JobTest, AnotherNetTrainsTheSameWay) {
  job.steps = 8;
  train_lenet();
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobTest, OneRankWithoutACodecIsTheLocalTrainer) {
  job.steps = 8;
  job.gradient.codec = "none";
  EXPECT_EQ(hash_of({}), train_locally(job).value());
}

TEST_F(JobTest, WeightDecayAtTheServerIsAnotherAlgorithmAndAsReproducible) {
  job.steps = 8;
  const std::string at_worker = hash_of({.workers = 2});
  job.optimizer.decay_at = DecayAt::server;
  const std::string at_server = hash_of({.workers = 2});
  EXPECT_NE(at_server, at_worker);
  EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 2}), at_server);
}

TEST_F(JobTest, EvaluatesTheSubsetOnTheWayAndEveryExampleOnceAtTheEnd) {
  train_lenet();
  weights = job.data.dir + "/final.safetensors";
  hash_of({.workers = 2});
  ASSERT_EQ(record.evaluated.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(record.evaluated[i].step, 10 * (i + 1));
  EXPECT_EQ(record.evaluated[0].examples, 20U);
  EXPECT_EQ(record.evaluated[2].examples, 60U);
  EXPECT_GT(record.evaluated[2].precision_at_1, 0.5);
  EXPECT_LT(record.evaluated[2].loss, record.evaluated[0].loss);
  const auto file = nets::read_safetensors(record.finished->weights);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->tensors.size(), 8U);
  const auto note = note_from(file->metadata, record.finished->weights);
  ASSERT_TRUE(note.ok()) << note.error().message;
  EXPECT_EQ(*note, note_of(job, job.steps, "mnist", {}));
  EXPECT_EQ(record.finished->parameters, 1256080U);
}

}  // namespace
}  // namespace sterna::actors
