// A job whose gradients travel in every way: the same bits in each shape, and as many as promised.
#include <gtest/gtest.h>

#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

using JobCodecsTest = SimulatedJob;

TEST_F(JobCodecsTest, WithoutACodecTheSameHolds) {
  job.steps = 8;
  job.gradient.codec = "none";
  job.optimizer.name = "gd";
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of({.servers = 2, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobCodecsTest, RanksShareTheLargestOfTheirScalers) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::shared;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobCodecsTest, OrTheirMean) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::shared;
  const std::string largest = hash_of({.workers = 2});
  job.gradient.scaler = ScalerRule::mean;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_NE(hash, largest);
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobCodecsTest, OrTheLargestOfTheStepBefore) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::last_step;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  network.set_delay([this](const std::string&, const std::string&) {
    return Duration(static_cast<std::int64_t>(random.below(20000000)));
  });
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 2}), hash);
}

TEST_F(JobCodecsTest, ABucketHasAScalerOfItsOwn) {
  job.steps = 4;
  job.gradient.buckets = true;
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    const std::string hash = hash_of({.workers = 2});
    EXPECT_EQ(hash, sequential_oracle(job));
    EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash);
  }
}

TEST_F(JobCodecsTest, AveragesDownGiveTheSameParametersToTheBit) {
  job.steps = 5;
  job.gradient.min_size = 100;  // some tensors come back as fp32
  job.gradient.check_every = 3;
  job.optimizer.schedule = "fixed";
  for (const bool first : {true, false}) {
    job.gradient.scaler = first ? ScalerRule::shared : ScalerRule::last_step;
    job.optimizer.name = first ? "momentum" : "adam";
    job.gradient.down = Down::parameters;
    const std::string hash = hash_of({.servers = 2, .workers = 2});
    job.gradient.down = Down::average;
    EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), hash);
    EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash);
  }
}

TEST_F(JobCodecsTest, AveragesOfBucketsAndWeightDecayAtTheServerDoToo) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.buckets = true;
  job.optimizer.decay_at = DecayAt::server;
  const std::string hash = hash_of({.workers = 2});
  job.gradient.down = Down::average;
  job.gradient.check_every = 1;
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), hash);
}

TEST_F(JobCodecsTest, AverageDownTakesAsManyPlanesAsTheSumsNeed) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  hash_of({.workers = 4});  // sums of -4 to 4: four planes
  ASSERT_FALSE(record.done.empty());
  const Traffic& traffic = record.done[0].traffic;
  // The first version comes as parameters: 32 bits.
  const double down = 8.0 * static_cast<double>(traffic.parameter_bytes) /
                      static_cast<double>(traffic.parameter_elements);
  EXPECT_NEAR(down, (32 + 7 * 4.0) / 8, 0.01 * down);
}

TEST_F(JobCodecsTest, EntropyCodingLosesNothingUpNorDown) {
  job.steps = 8;
  job.optimizer.name = "gd";
  const std::string own = hash_of({.workers = 2});
  job.gradient.codec = "ternary_entropy";
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), own);
  job.gradient.scaler = ScalerRule::last_step;
  job.gradient.codec = "ternary";
  job.gradient.down = Down::average;
  job.gradient.check_every = 3;
  const std::string average = hash_of({.workers = 2});
  const std::uint64_t planes = record.done[0].traffic.gradient_bytes;
  job.gradient.codec = "ternary_entropy";
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), average);
  EXPECT_LT(record.done[0].traffic.gradient_bytes, 0.95 * static_cast<double>(planes));
}

TEST_F(JobCodecsTest, TernaryDownIsTheSameForAllWhoStepFromIt) {
  job.gradient.down = Down::ternary;
  job.gradient.check_every = 3;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_LT(record.done[0].loss, 0.7 * record.progress.front().loss);
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), hash);
  EXPECT_EQ(hash_of({.servers = 3, .workers = 2}), hash);
  job.gradient.codec = "ternary_entropy";
  EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 2}), hash);
  job.gradient.codec = "ternary";
  job.gradient.scaler = ScalerRule::shared;
  EXPECT_NE(hash_of({.servers = 2, .workers = 2}), hash);
}

TEST_F(JobCodecsTest, TernaryDownWithoutFeedbackIsAnotherAlgorithmAndAsReproducible) {
  job.steps = 12;
  job.gradient.down = Down::ternary;
  job.gradient.check_every = 3;
  const std::string fed = hash_of({.workers = 2});
  job.gradient.down_feedback = false;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_NE(hash, fed);
  EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash);
  job.gradient.clip = 0;  // which only a residual cannot bear
  EXPECT_NE(hash_of({.workers = 2}), "");
}

TEST_F(JobCodecsTest, TensorsMayHaveCodecsOfTheirOwnAndParametersComeRounded) {
  job.steps = 8;
  job.gradient.tensors = {{"fc1/weights", "none"}, {"fc2/weights", "bf16"}};
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash);
  job.gradient.tensors.clear();
  job.gradient.down = Down::parameters_bf16;
  const std::string rounded = hash_of({.workers = 2});
  EXPECT_NE(rounded, hash);
  EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), rounded);
  const Traffic& traffic = record.done[0].traffic;
  const double down = 8.0 * static_cast<double>(traffic.parameter_bytes) /
                      static_cast<double>(traffic.parameter_elements);
  EXPECT_NEAR(down, (32 + 7 * 16.0) / 8, 1e-3);  // the first version comes as it is
}

TEST_F(JobCodecsTest, ErrorFeedbackKeepsWhatACodecLeaves) {
  job.steps = 6;
  job.optimizer.name = "gd";
  const std::string without = hash_of({.workers = 2});
  job.gradient.error_feedback = true;
  for (const char* codec : {"ternary", "bf16"}) {
    job.gradient.codec = codec;
    const std::string with = hash_of({.workers = 2});
    EXPECT_NE(with, without);
    EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 2}), with);
  }
  job.gradient.codec = "none";  // leaves nothing
  const std::string nothing = hash_of({.workers = 2});
  job.gradient.error_feedback = false;
  EXPECT_EQ(hash_of({.workers = 2}), nothing);
}

TEST_F(JobCodecsTest, SomeEpochsTravelAsFp32) {
  job.steps = 12;
  job.gradient.scaler = ScalerRule::last_step;
  job.gradient.down = Down::average;
  job.gradient.check_every = 1;
  job.gradient.floating_grad_epoch = 1;  // all of them
  job.examples = 16;                     // two steps
  const std::string all = hash_of({.workers = 2});
  const std::uint64_t bytes = record.done[0].traffic.gradient_bytes;
  job.gradient.floating_grad_epoch = 3;
  const std::string some = hash_of({.servers = 2, .workers = 2});
  EXPECT_NE(some, all);
  EXPECT_NEAR(
      static_cast<double>(record.done[0].traffic.gradient_bytes) / static_cast<double>(bytes),
      1.0 / 3 + 2.0 / 3 / 16, 0.01);
  EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), some);
}

TEST_F(JobCodecsTest, ALimitedNormIsOfTheWholeGradient) {
  job.steps = 3;
  job.gradient.codec = "none";
  job.optimizer.name = "gd";
  job.optimizer.schedule = "fixed";
  job.optimizer.learning_rate = 1;
  job.optimizer.weight_decay = 0;
  const std::string free = hash_of({.workers = 1});
  job.gradient.clip_norm = 1e6;
  EXPECT_EQ(hash_of({.workers = 1}), free);
  // Three steps of norm 1e-3 each cannot move the parameters, so the loss stays about what it was.
  job.gradient.clip_norm = 1e-3;
  EXPECT_NE(hash_of({.workers = 1}), free);
  EXPECT_NEAR(record.done[0].loss, record.progress.front().loss, 0.5);
  job.gradient.codec = "ternary";
  const std::string clipped = hash_of({.workers = 2});
  EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 2}), clipped);
}

TEST_F(JobCodecsTest, CountsTwoBitsForEachTernarizedElement) {
  train_lenet();
  job.steps = 8;
  hash_of({.servers = 2, .workers = 2});
  for (const WorkerDone& done : record.done) {
    const Traffic& t = done.traffic;
    EXPECT_EQ(t.ternarized_elements, 8U * 1256080U);
    EXPECT_EQ(t.gradient_elements, t.ternarized_elements);
    EXPECT_LE(8.0 * static_cast<double>(t.ternarized_bytes), 2.05 * 8 * 1256080);
    EXPECT_LE(8.0 * static_cast<double>(t.bytes_up), 2.25 * 8 * 1256080);
    EXPECT_GE(t.bytes_up, t.gradient_bytes);
    EXPECT_GE(t.bytes_down, t.parameter_bytes);
    EXPECT_EQ(t.parameter_elements, 8U * 1256080U);
    EXPECT_EQ(done.steps, 8U);
    EXPECT_GT(t.nonzero_elements, 0.1 * static_cast<double>(t.ternarized_elements));
    EXPECT_LT(t.nonzero_elements, 0.5 * static_cast<double>(t.ternarized_elements));
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
    std::uint64_t nonzero = 0;
    ASSERT_EQ(done.tensors.size(), 8U);
    for (const TensorTotals& tensor : done.tensors) {
      EXPECT_EQ(tensor.steps, 7U) << tensor.tensor;  // nobody waits for the last version
      bytes_up += tensor.bytes_up;
      bytes_down += tensor.bytes_down;
      nonzero += tensor.nonzero;
    }
    EXPECT_EQ(bytes_up, t.gradient_bytes);
    EXPECT_EQ(bytes_down, t.parameter_bytes);
    EXPECT_EQ(nonzero, t.nonzero_elements);
  }
}

TEST_F(JobCodecsTest, CountsWhatIsLargerThanTheLastStepsScaler) {
  train_lenet();
  job.steps = 8;
  job.gradient.scaler = ScalerRule::last_step;
  hash_of({.workers = 2});
  const Traffic& t = record.done.front().traffic;
  EXPECT_EQ(t.measured_elements, 7U * 1256080U);
  EXPECT_GT(t.saturated_elements, 0U);
  EXPECT_LT(t.saturated_elements, 0.1 * static_cast<double>(t.measured_elements));
}

}  // namespace
}  // namespace sterna::actors
