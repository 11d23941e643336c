// A job whose workers compute on devices, which the host's plays: its streams run late, in any
// order that the events allow, and the bits are always the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "kernels/optimizer/optimizer.h"
#include "nets/zoo/fixed_gradients.h"
#include "runtime/message/packed_message.h"
#include "tests/actors/fixed_tensors.h"
#include "tests/actors/job_on_devices.h"
#include "tests/actors/train_locally.h"

namespace sterna::actors {
namespace {

using testing::HasSubstr;

TEST_F(JobOnDevices, ThirtyStepsEndInOneHashOverAHundredSeedsOfLateStreams) {
  job.steps = 30;
  expect_the_same_bits_of_all(100);
}

TEST_F(JobOnDevices, LenetEndsInOneHashToo) {
  train_lenet();
  job.steps = 3;
  expect_the_same_bits(3);
}

TEST_F(JobOnDevices, OneRankWithoutACodecIsTheLocalTrainer) {
  job.gradient.codec = "none";
  const auto expect_the_same = [this](const std::string& what) {
    const std::string expected = hash_on({.late = false}, {});
    for (std::uint64_t seed = 0; seed < test::seeds_of(5); ++seed) {
      const Result<std::string> found =
          train_locally(job, kernels::make_host_device({.seed = seed}));
      ASSERT_TRUE(found.ok()) << found.error().message;
      EXPECT_EQ(*found, expected) << what << ", seed " << seed;
    }
  };
  for (const char* optimizer : {"momentum", "adam"}) {
    job.optimizer.name = optimizer;
    expect_the_same(optimizer);
  }
  const Result<std::string> failed =
      train_locally(job, kernels::make_host_device({.fails_after = 100}));
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("the host device has failed"));
  job.hidden.clear();
  job.net = "resnet_20";  // whose norms have statistics
  job.steps = 2;
  job.batch = 1;
  expect_the_same(job.net);
}

// Layers of every kind, and statistics, which travel as they are and which servers move.
TEST_F(JobOnDevices, NetsWithNormsAndShortcutsEndInOneHashToo) {
  job.hidden.clear();
  job.evaluation.every = 2;
  job.evaluation.examples = 8;
  job.steps = 2;
  job.batch = 1;
  for (const char* net : {"cifarnet", "resnet_20"}) {
    job.net = net;
    expect_the_same_bits(2);
  }
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  expect_the_same_bits(1);
}

TEST_F(JobOnDevices, NetsThatMultiplyBf16sEndInOneHashToo) {
  const std::string in_fp32 = hash_on({.seed = 1});
  job.precision = Precision::bf16;
  JobLayout layout{.workers = 2, .evaluator_device = kernels::make_host_device({.seed = 9})};
  expect_the_same_bits(10, layout);
  EXPECT_NE(hash_on({.seed = 1}, layout), in_fp32);
  layout.ranks_per_worker = 2;
  job.micro_batch = job.batch / 2;
  expect_the_same_bits(3, layout);
  job.micro_batch = 0;
  train_lenet();
  job.steps = 3;
  const std::string expected = hash_on({.late = false, .libraries = true}, layout);
  ASSERT_FALSE(expected.empty());
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    EXPECT_EQ(hash_on({.seed = seed, .hidden = seed == 1, .libraries = true}, layout), expected);
  }
}

TEST_F(JobOnDevices, WorkersSayWhichPlansOfLibrariesTheyTook) {
  train_lenet();
  job.steps = 1;
  ASSERT_FALSE(hash_on({.libraries = true}).empty());
  ASSERT_EQ(record.done.size(), 2U);
  for (const WorkerDone& done : record.done) {
    EXPECT_EQ(done.computed_by.device, "the host");
    EXPECT_THAT(done.computed_by.plans,
                testing::UnorderedElementsAre(testing::StartsWith("the host's convolution ("),
                                              testing::StartsWith("the host's product (")));
  }
  ASSERT_FALSE(hash_of({.workers = 2}).empty());
  for (const WorkerDone& done : record.done) EXPECT_EQ(done.computed_by, DevicePlans());
}

TEST_F(JobOnDevices, WorkersSayWhichPassesCouldNotBeRecorded) {
  train_lenet();
  job.steps = 3;
  ASSERT_FALSE(hash_on({.libraries = true, .fails_recording = true}).empty());
  for (const WorkerDone& done : record.done) {
    EXPECT_THAT(done.computed_by.plans,
                testing::Contains("no recorded pass: the host device cannot repeat that (2)"));
  }
}

TEST(DevicePlans, AreEachThereOnceAndNoMoreThanAMessageHolds) {
  EXPECT_EQ(DevicePlans::of("card", {"a", "b", "a", "a"}).text(), "card, by a (3), b");
  std::vector<std::string> many(2, std::string(2 * DevicePlans::kMostBytes, 'x'));
  for (std::size_t i = 0; i < DevicePlans::kMost; ++i) many.push_back(std::to_string(i));
  WorkerDone done;
  done.computed_by = DevicePlans::of(many[0], many);
  EXPECT_EQ(done.computed_by.plans.size(), DevicePlans::kMost);
  EXPECT_THAT(done.computed_by.plans[0], testing::EndsWith("xx (2)"));
  const auto sent = unpack<WorkerDone>(pack(done).view());
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(*sent, done);
}

TEST_F(JobOnDevices, NoCodeOfTheHostLooksAtADevicesMemory) {
  job.steps = 4;
  EXPECT_EQ(hash_on({.seed = 3, .hidden = true}), hash_on({.late = false}));
}

TEST_F(JobOnDevices, SharedScalersTakeTheSameWay) {
  job.gradient.scaler = ScalerRule::shared;
  expect_the_same_bits(10);
  job.gradient.scaler = ScalerRule::last_step;
  expect_the_same_bits(10);
}

TEST_F(JobOnDevices, RanksThatTakeTurnsKeepWhatTheyHold) {
  job.gradient.scaler = ScalerRule::shared;
  const std::string apart = hash_on({.seed = 1}, {.workers = 4});
  EXPECT_EQ(hash_on({.seed = 2}, {.workers = 2, .ranks_per_worker = 2}), apart);
  EXPECT_EQ(hash_on({.seed = 3}, {.servers = 3, .workers = 1, .ranks_per_worker = 4, .cores = 2}),
            apart);
}

TEST_F(JobOnDevices, WorkersThatStepByAveragesHaveTheServersParameters) {
  job.gradient.scaler = ScalerRule::shared;
  const std::string expected = hash_on({.seed = 1});
  job.gradient.down = Down::average;
  job.gradient.check_every = 3;
  EXPECT_EQ(hash_on({.seed = 2}), expected);
  EXPECT_EQ(hash_on({.seed = 3, .hidden = true}), expected);
  job.gradient.down = Down::ternary;
  expect_the_same_bits(5);
  job.gradient.codec = "none";
  job.gradient.scaler = ScalerRule::own;
  job.gradient.down = Down::parameters;
  const std::string floats = hash_on({.seed = 4});
  job.gradient.down = Down::average;
  EXPECT_EQ(hash_on({.seed = 5}), floats);
}

TEST_F(JobOnDevices, EveryOptimizerStepsThereAsTheServersDo) {
  job.gradient.scaler = ScalerRule::shared;
  job.optimizer.decay_at = DecayAt::server;
  job.optimizer.weight_decay = 1e-3;
  test::Few optimizers(2);
  for (const std::string_view name : kernels::optimizer_names()) {
    if (optimizers.leaves_out()) continue;
    job.optimizer.name = name;
    ASSERT_TRUE(kernels::device_rule(name)) << name;
    job.gradient.down = Down::parameters;
    const std::string expected = hash_on({.seed = 1});
    ASSERT_FALSE(expected.empty()) << name;
    job.gradient.down = Down::average;
    EXPECT_EQ(hash_on({.seed = 2}), expected) << name;
    // Where servers average, and where the average comes as floats.
    job.gradient.codec = "none";
    job.gradient.scaler = ScalerRule::own;
    const std::string floats = hash_on({.seed = 3});
    job.gradient.down = Down::parameters;
    EXPECT_EQ(hash_on({.seed = 4}), floats) << name;
    job.gradient.codec = "ternary";
    job.gradient.scaler = ScalerRule::shared;
  }
}

// Codec, sums and optimizer of a device have the CPU's bits.
TEST_F(JobOnDevices, TheSameGradientsLeadToTheParametersOfACpuJob) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};  // of 1,024 elements: one of two chunks of trits
  weights = testing::TempDir() + "sterna-fixed-" + std::to_string(::getpid()) + ".safetensors";
  test::Few ways(3);
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    for (const Down down : {Down::parameters, Down::parameters_bf16, Down::average}) {
      if (down == Down::average && rule == ScalerRule::own) continue;
      if (ways.leaves_out()) continue;
      job.gradient.scaler = rule;
      job.gradient.down = down;
      EXPECT_FALSE(hash_of({.workers = 2}).empty());
      const auto expected = fixed_tensors(weights);
      ASSERT_EQ(expected.size(), 3U);
      EXPECT_FALSE(hash_on({.seed = 5}).empty());
      EXPECT_EQ(fixed_tensors(weights), expected);
    }
  }
  std::filesystem::remove(weights);
}

TEST_F(JobOnDevices, WhatIsRoundedOrFedBackThereLeadsToTheParametersOfACpuJob) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};
  weights = testing::TempDir() + "sterna-fed-back-" + std::to_string(::getpid()) + ".safetensors";
  std::map<std::string, std::vector<float>> before;
  for (const char* codec : {"bf16", "ternary", "ternary_entropy"}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      for (const bool feedback : {false, true}) {
        if (codec == std::string("bf16") ? rule != ScalerRule::own : !feedback) continue;
        job.gradient.codec = codec;
        job.gradient.scaler = rule;
        job.gradient.error_feedback = feedback;
        const JobLayout layout{.workers = 2, .ranks_per_worker = 2};
        EXPECT_FALSE(hash_of(layout).empty());
        const auto expected = fixed_tensors(weights);
        ASSERT_EQ(expected.size(), 3U);
        if (codec != std::string("ternary_entropy")) {  // which has the bits of the one before
          EXPECT_NE(std::exchange(before, expected), expected);
        }
        EXPECT_FALSE(hash_on({.seed = 5}, layout).empty());
        EXPECT_EQ(fixed_tensors(weights), expected) << codec << ", " << static_cast<int>(rule);
      }
    }
  }
  std::filesystem::remove(weights);
}

TEST_F(JobOnDevices, WhatIsRoundedOrFedBackEndsInOneHashToo) {
  job.gradient.error_feedback = true;
  expect_the_same_bits(5);
  job.gradient.scaler = ScalerRule::last_step;
  expect_the_same_bits(5, {.workers = 1, .ranks_per_worker = 2});
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  expect_the_same_bits(5);
  EXPECT_EQ(hash_on({.seed = 3, .hidden = true}), hash_on({.late = false}));
  job.gradient.scaler = ScalerRule::own;
  job.gradient.down = Down::parameters;
  job.gradient.codec = "bf16";
  expect_the_same_bits(3);
  job.gradient.error_feedback = false;
  expect_the_same_bits(3);
}

TEST_F(JobOnDevices, GradientsAreClippedThereAsOnACpu) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};
  // The norm, too, is of what does not depend on who computes.
  job.init.train_only = {"fixed0", "fixed1", "fixed2"};
  weights = testing::TempDir() + "sterna-clipped-" + std::to_string(::getpid()) + ".safetensors";
  std::map<std::string, std::vector<float>> before;
  for (const double norm : {1e-4, 1e3}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared}) {
      job.gradient.clip_norm = norm;
      job.gradient.scaler = rule;
      const JobLayout layout{.workers = 1, .ranks_per_worker = 2};
      EXPECT_FALSE(hash_of(layout).empty());
      const auto expected = fixed_tensors(weights);
      ASSERT_EQ(expected.size(), 3U);
      if (rule == ScalerRule::own) {
        EXPECT_NE(before, expected) << norm;
        before = expected;
      }
      EXPECT_FALSE(hash_on({.seed = 5}, layout).empty());
      EXPECT_EQ(fixed_tensors(weights), expected) << norm;
    }
  }
  std::filesystem::remove(weights);
}

TEST_F(JobOnDevices, ClippedGradientsEndInOneHashToo) {
  job.gradient.clip_norm = 0.1;
  expect_the_same_bits(5);
  job.gradient.scaler = ScalerRule::shared;
  const JobLayout turns{.workers = 2, .ranks_per_worker = 2};
  expect_the_same_bits(5, turns);
  job.gradient.host = HostRule::average;
  expect_the_same_bits(5, turns);
  job.gradient.error_feedback = true;
  expect_the_same_bits(2, turns);
  EXPECT_EQ(hash_on({.seed = 3, .hidden = true}, turns), hash_on({.late = false}, turns));
}

TEST_F(JobOnDevices, WhatTheDeviceHasNoPassForIsEncodedByTheHost) {
  job.gradient.buckets = true;
  expect_the_same_bits(3);
  job.gradient.error_feedback = true;
  job.gradient.scaler = ScalerRule::shared;
  expect_the_same_bits(3, {.workers = 1, .ranks_per_worker = 2});
  job.gradient.buckets = false;
  job.gradient.scaler = ScalerRule::own;
  job.gradient.codec = "topk";
  expect_the_same_bits(3);
}

TEST_F(JobOnDevices, RanksThatWaitForNobodyTrainThereToo) {
  job.scheme.name = "async";
  // A rank alone is in step with itself.
  job.gradient.scaler = ScalerRule::own;
  expect_the_same_bits(5, {.workers = 1});
  EXPECT_FALSE(hash_on({.seed = 1}, {.workers = 3}).empty());
}

TEST_F(JobOnDevices, MixWithWorkersOnCpus) {
  const auto mixed = [&](std::uint64_t seed) {
    JobLayout layout{.workers = 2};
    layout.device = [seed](std::uint32_t worker) {
      return worker == 0 ? nullptr : kernels::make_host_device({.seed = seed});
    };
    return hash_of(layout);
  };
  EXPECT_EQ(mixed(1), mixed(2));
}

TEST_F(JobOnDevices, AFaultInMidStepEndsTheWorkerWithItsCause) {
  expect_a_fault_ends_the_second({.workers = 2});
}

TEST_F(JobOnDevices, AFaultThatIsInjectedEndsTheWorkerWithItsCauseToo) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    JobLayout layout{.workers = 2};
    layout.device = [seed](std::uint32_t worker) {
      return kernels::make_host_device({.seed = 10 * seed + worker});
    };
    launch(layout);
    const Result<void> injected = inject_device_fault("worker1");
    ASSERT_TRUE(injected.ok()) << injected.error().message;
    EXPECT_TRUE(deaths.empty()) << "its next step has not come so far";
    expect_died_of_its_device("worker1");
    EXPECT_FALSE(record.finished);
  }
}

TEST_F(JobOnDevices, AFaultOfADeviceIsRefusedByWhoHasNone) {
  launch({.workers = 1});
  for (const char* name : {"worker0", "evaluator", "server0"}) {
    const Result<void> injected = inject_device_fault(name);
    ASSERT_FALSE(injected.ok()) << name;
    EXPECT_EQ(injected.error().code, Errc::invalid_argument) << name;
  }
  finish();
  EXPECT_TRUE(deaths.empty());
}

// Nobody builds the module beside this test.
TEST_F(JobOnDevices, AWorkerThatIsToUseAGpuAndFindsNoneEndsBeforeTheFirstStep) {
  launch({.workers = 2, .backend = "cuda"});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_THAT(deaths.front(),
              testing::AllOf(testing::StartsWith("worker"), HasSubstr("actor.backend = \"cuda\": "),
                             HasSubstr("libsterna_cuda.so is not there")));
  EXPECT_TRUE(record.progress.empty());
}

}  // namespace
}  // namespace sterna::actors
