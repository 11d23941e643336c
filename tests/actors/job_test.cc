// One job in many shapes: the same bits each time.
#include <gtest/gtest.h>

#include <cmath>

#include "actors/local_trainer.h"
#include "input/batches/batch.h"
#include "input/batches/preprocess.h"
#include "input/formats/idx.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"

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

TEST_F(JobTest, AReaderThatDiesEndsItsWorkersNamingTheStepAndTheReader) {
  job.shards = 2;
  launch({.readers = 2, .workers = 2});
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  process_of("reader1").process->kill(ref_of("reader1").id.local, "killed by the test");
  loop.run_until([this] { return deaths.size() >= 3; }, loop.now() + std::chrono::minutes(5));
  ASSERT_GE(deaths.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_NE(deaths[i].find("step "), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("batch of rank "), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("reader1"), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("killed by the test"), std::string::npos) << deaths[i];
  }
}

TEST_F(JobTest, AReaderThatAnswersForAnothersShardEndsTheRunNamingStepRankAndReader) {
  job.shards = 2;
  launch({.readers = 2, .workers = 1, .readers_reversed = true});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("step 0, batch of rank 0"), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("reader0: it answers row"), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("lies in the shard of reader1"), std::string::npos) << deaths[0];
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

TEST_F(JobTest, WithoutACodecTheSameHolds) {
  job.steps = 8;
  job.gradient.codec = "none";
  job.optimizer.name = "gd";
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of({.servers = 2, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobTest, RanksShareTheLargestOfTheirScalers) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::shared;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
}

TEST_F(JobTest, OrTheLargestOfTheStepBefore) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::last_step;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  network.set_delay([this](const std::string&, const std::string&) {
    return Duration(static_cast<std::int64_t>(random.below(20000000)));
  });
  EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 2}), hash);
}

TEST_F(JobTest, ABucketHasAScalerOfItsOwn) {
  job.steps = 4;
  job.gradient.buckets = true;
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    const std::string hash = hash_of({.workers = 2});
    EXPECT_EQ(hash, sequential_oracle(job));
    EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash);
  }
}

TEST_F(JobTest, AveragesDownGiveTheSameParametersToTheBit) {
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

TEST_F(JobTest, AveragesOfBucketsAndWeightDecayAtTheServerDoToo) {
  job.steps = 8;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.buckets = true;
  job.optimizer.decay_at = DecayAt::server;
  const std::string hash = hash_of({.workers = 2});
  job.gradient.down = Down::average;
  job.gradient.check_every = 1;
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), hash);
}

TEST_F(JobTest, AverageDownTakesAsManyPlanesAsTheSumsNeed) {
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

TEST_F(JobTest, OneFlippedBitStopsTheRunNamingRankStepAndTensor) {
  train_lenet();
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  job.gradient.check_every = 5;
  launch({.workers = 2, .flip_at_version = 7});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("step 10, parameters of rank "), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("fc3/weights differs from the server's, elements "), std::string::npos)
      << deaths[0];
  EXPECT_FALSE(record.finished);
}

TEST_F(JobTest, EntropyCodingLosesNothingUpNorDown) {
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

TEST_F(JobTest, TernaryDownIsTheSameForAllWhoStepFromIt) {
  job.gradient.down = Down::ternary;
  job.gradient.check_every = 3;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_LT(record.done[0].loss, 0.7 * record.progress.front().loss);
  job.gradient.codec = "ternary_entropy";
  EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 2}), hash);
  job.gradient.codec = "ternary";
  job.gradient.scaler = ScalerRule::shared;
  EXPECT_NE(hash_of({.servers = 2, .workers = 2}), hash);
}

TEST_F(JobTest, TensorsMayHaveCodecsOfTheirOwnAndParametersComeRounded) {
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

// Without it, a gradient's small elements are lost where the scaler is large.
TEST_F(JobTest, ErrorFeedbackKeepsWhatACodecLeaves) {
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

TEST_F(JobTest, SomeEpochsTravelAsFp32) {
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

TEST_F(JobTest, ALimitedNormIsOfTheWholeGradient) {
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

TEST_F(JobTest, AdamTrainsTheSameWay) {
  job.optimizer.name = "adam";
  job.optimizer.learning_rate = 1e-3;
  const std::string hash = hash_of({.workers = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_GT(record.evaluated.back().precision_at_1, 0.5);
  EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
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
  const std::string hash = hash_of({});
  auto trainer = LocalTrainer::make(job);
  ASSERT_TRUE(trainer.ok());
  const auto dataset = input::load_mnist(job.data.dir, input::Split::train);
  ASSERT_TRUE(dataset.ok());
  std::vector<float> images(job.batch * dataset->image_size());
  std::vector<std::uint16_t> labels(job.batch);
  for (std::uint64_t step = 0; step < job.steps; ++step) {
    input::gather(*dataset, input::batch_indices({job.seed, step, 0, 1, job.batch}, dataset->count),
                  images, labels);
    ASSERT_TRUE(trainer->step(step, images, labels).ok());
  }
  EXPECT_EQ(parameters_sha256(trainer->net()), hash);
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
  EXPECT_EQ(record.finished->parameters, 1256080U);
}

TEST_F(JobTest, CountsTwoBitsForEachTernarizedElement) {
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

TEST_F(JobTest, CountsWhatIsLargerThanTheLastStepsScaler) {
  train_lenet();
  job.steps = 8;
  job.gradient.scaler = ScalerRule::last_step;
  hash_of({.workers = 2});
  const Traffic& t = record.done.front().traffic;
  EXPECT_EQ(t.measured_elements, 7U * 1256080U);
  EXPECT_GT(t.saturated_elements, 0U);
  EXPECT_LT(t.saturated_elements, 0.1 * static_cast<double>(t.measured_elements));
}

TEST_F(JobTest, ALossThatIsNotANumberEndsTheRunNamingRankAndStep) {
  job.optimizer.learning_rate = 1e30;
  launch({.workers = 2});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("rank "), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("step "), std::string::npos) << deaths[0];
  EXPECT_FALSE(record.finished);
}

TEST_F(JobTest, AServerThatDiesEndsItsWorkersNamingTheStepAndTheServer) {
  launch({.workers = 2});
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  process_of("server0").process->kill(ref_of("server0").id.local, "killed by the test");
  loop.run_until([this] { return deaths.size() >= 3; }, loop.now() + std::chrono::minutes(5));
  ASSERT_GE(deaths.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_NE(deaths[i].find("server0"), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("killed by the test"), std::string::npos) << deaths[i];
  }
}

TEST_F(JobTest, AReaderWithoutDataEndsTheRunWithTheFile) {
  job.data.dir += "/nowhere";
  launch({});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("nowhere"), std::string::npos) << deaths[0];
}

TEST_F(JobTest, AReaderAnswersTheSameQuestionAlwaysTheSameAndRefusesImpossibleOnes) {
  launch({.readers = 2, .workers = 2});
  test::SimProcess& worker = process_of("worker1");
  const auto ask = [&](const std::string& reader, NextBatch question) {
    return worker.process->wait(worker.process->ask(*ref_of(reader).as<InputReaderInterface>(),
                                                    question, std::chrono::seconds(10)));
  };
  const auto first = ask("reader0", {.step = 7, .rank = 1});
  const auto second = ask("reader1", {.step = 7, .rank = 1});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(std::ranges::equal(first->images.view(), second->images.view()));
  EXPECT_TRUE(std::ranges::equal(first->labels.view(), second->labels.view()));
  EXPECT_EQ(labels_of(*first).size(), job.batch);
  EXPECT_FALSE(ask("reader0", {.step = 7, .rank = 2}).ok());
  EXPECT_FALSE(ask("reader0", {.step = 30, .rank = 1}).ok());
}

TEST_F(JobTest, WhoHasNoPartInItGetsNeitherBatchesNorParametersAndChangesNothing) {
  job.steps = 8;
  const std::string hash = hash_of({.workers = 2});
  launch({.workers = 2});
  const auto ask = [&](const std::string& from, const auto& target, const auto& question) {
    Process& process = *start(from).process;
    return process.wait(process.ask(target, question, std::chrono::seconds(10)));
  };
  const auto server = *ref_of("server0").as<ParameterServerInterface>();
  const auto reader = *ref_of("reader0").as<InputReaderInterface>();
  EXPECT_FALSE(ask("curious", server, Pull{.version = 0, .chunks = {0}}).ok());
  EXPECT_FALSE(ask("greedy", reader, NextBatch{.step = 0, .rank = 0}).ok());
  finish();
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 1U);
  EXPECT_EQ(process_of("reader0").process->links()->counters().faults, 1U);
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
}

TEST_F(JobTest, APeerThatSpeaksForAnothersRankLosesItsLinkAndChangesNothing) {
  job.steps = 8;
  const std::string hash = hash_of({.workers = 2});
  launch({.workers = 2});
  test::SimProcess& peer = start("peer");
  Push push;
  push.rank = 1;
  push.incarnation = 1;
  push.examples = job.batch;
  const auto reply = peer.process->wait(peer.process->ask(
      *ref_of("server0").as<ParameterServerInterface>(), push, std::chrono::seconds(10)));
  ASSERT_FALSE(reply.ok());
  finish();
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 1U);
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
}

TEST_F(JobTest, OnlyTheEvaluatorReleasesSnapshots) {
  job.steps = 8;
  launch({.workers = 2});
  test::SimProcess& peer = start("peer");
  peer.process->tell(*ref_of("server0").as<ParameterServerInterface>(), Release{30});
  finish();
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 1U);
  EXPECT_TRUE(record.finished);
}

}  // namespace
}  // namespace sterna::actors
