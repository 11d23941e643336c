// A job whose workers push the averages of their ranks' gradients: the bits of a plain loop that
// averages before it encodes, whoever is done first and wherever the ranks take their turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernels/device/host_device.h"
#include "nets/zoo/fixed_gradients.h"
#include "tests/actors/fixed_tensors.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

class JobHostAverageTest : public SimulatedJob {
 protected:
  JobHostAverageTest() {
    job.steps = 5;
    job.hidden = {100};
    job.evaluation.every = 0;
    job.gradient.host = HostRule::average;
  }
  std::uint64_t bytes_up() const {
    std::uint64_t bytes = 0;
    for (const WorkerDone& one : record.done) bytes += one.traffic.gradient_bytes;
    return bytes;
  }
};

TEST_F(JobHostAverageTest, FourRanksArePushedAsOneWhoseGradientIsTheirAverage) {
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    const std::string hash = hash_of({.workers = 1, .ranks_per_worker = 4});
    EXPECT_EQ(hash, sequential_oracle(job));
    EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 4, .cores = 3}), hash);
    job.gradient.host = HostRule::each;
    EXPECT_NE(hash_of({.workers = 1, .ranks_per_worker = 4}), hash);
    job.gradient.host = HostRule::average;
  }
}

TEST_F(JobHostAverageTest, WorkersAgreeOnScalersAsRanksDo) {
  for (const ScalerRule rule : {ScalerRule::shared, ScalerRule::mean, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    job.gradient.buckets = rule == ScalerRule::shared;
    const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 3, .cores = 2};
    const std::string hash = hash_of(layout);
    EXPECT_EQ(hash, sequential_oracle(job)) << static_cast<int>(rule);
  }
}

TEST_F(JobHostAverageTest, LateMessagesAndSlowRanksChangeNoBit) {
  job.gradient.scaler = ScalerRule::shared;
  const std::string hash = hash_of({.workers = 2, .ranks_per_worker = 3});
  EXPECT_EQ(hash, sequential_oracle(job));
  network.set_delay([this](const std::string&, const std::string&) {
    return Duration(static_cast<std::int64_t>(random.below(20000000)));
  });
  for (const std::uint32_t slow : {0U, 1U, 5U}) {
    job.delays = {{.ranks = {slow}, .delay = std::chrono::milliseconds(50)}};
    EXPECT_EQ(hash_of({.servers = 2, .workers = 2, .ranks_per_worker = 3, .cores = 3}), hash);
  }
}

TEST_F(JobHostAverageTest, InFp32OneWorkerAveragesAsItsServerWould) {
  job.gradient.codec = "none";
  job.gradient.clip_norm = 0.5;  // of each rank's
  const std::string hash = hash_of({.workers = 1, .ranks_per_worker = 4, .cores = 2});
  job.gradient.host = HostRule::each;
  EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 4}), hash);
}

TEST_F(JobHostAverageTest, WorkersOfOneRankPushWhatTheyAlwaysDid) {
  const std::string hash = hash_of({.workers = 3});
  job.gradient.host = HostRule::each;
  EXPECT_EQ(hash_of({.workers = 3}), hash);
}

TEST_F(JobHostAverageTest, SoManyRanksSendOneOfSoManyBytes) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 4};
  hash_of(layout);
  const std::uint64_t averaged = bytes_up();
  EXPECT_EQ(record.done[0].tensors.front().pushes, job.steps);
  job.gradient.host = HostRule::each;
  hash_of(layout);
  EXPECT_GT(averaged, 0U);
  EXPECT_EQ(bytes_up(), 4 * averaged);
}

TEST_F(JobHostAverageTest, AveragesOfWorkersTravelDownAsThoseOfRanksDo) {
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.check_every = 2;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2, .cores = 2};
  const std::string hash = hash_of(layout);
  EXPECT_EQ(hash, sequential_oracle(job));
  job.gradient.down = Down::average;
  EXPECT_EQ(hash_of(layout), hash);
  job.gradient.down = Down::ternary;
  const std::string ternary = hash_of(layout);
  EXPECT_NE(ternary, hash);
  EXPECT_EQ(hash_of({.workers = 2, .ranks_per_worker = 2}), ternary);
}

TEST_F(JobHostAverageTest, NormalizedBatchesMoveByTheAverageOfTheirMoments) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.steps = 2;
  job.batch = 2;
  const std::string hash = hash_of({.workers = 2, .ranks_per_worker = 2});
  EXPECT_EQ(hash, sequential_oracle(job));
}

TEST_F(JobHostAverageTest, TwoServersOfAShardHearTheSame) {
  job.gradient.scaler = ScalerRule::last_step;
  const JobLayout one{.workers = 2, .ranks_per_worker = 2, .cores = 2};
  JobLayout two = one;
  two.replicas = true;
  EXPECT_EQ(hash_of(two), hash_of(one));
}

TEST_F(JobHostAverageTest, HistogramsOfWhatWasSentAreOfTheAverage) {
  job.summary = {.tensorboard = true, .every = 2};
  hash_of({.workers = 2, .ranks_per_worker = 2, .cores = 2});
  ASSERT_EQ(record.histograms.size(), 3U);
  std::size_t elements = 0;
  for (const TensorHistogram& one : record.histograms.back().histograms) {
    if (one.of != HistogramOf::SENT) continue;
    for (const std::uint64_t count : one.counts) elements += count;
  }
  std::size_t all = 0;
  for (const TensorTotals& one : record.done.front().tensors) all += one.elements;
  EXPECT_EQ(elements, all);
}

// ---- on devices ----

class JobDeviceAverageTest : public JobHostAverageTest {
 protected:
  /// Two workers of three ranks each, on a device of the host's each, seeded apart.
  static JobLayout on_devices(const kernels::HostDeviceOptions& options) {
    JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 3};
    layout.device = [options](std::uint32_t worker) {
      kernels::HostDeviceOptions own = options;
      own.seed = 1000 * options.seed + worker;
      return kernels::make_host_device(own);
    };
    return layout;
  }
  void expect_the_same_bits(std::uint64_t seeds) {
    const std::string expected = hash_of(on_devices({.late = false}));
    ASSERT_FALSE(expected.empty());
    for (std::uint64_t seed = 0; seed < test::seeds_of(seeds) && !HasFailure(); ++seed) {
      EXPECT_EQ(hash_of(on_devices({.seed = seed})), expected) << "seed " << seed;
    }
  }
};

// Of what is the same on both sides, gradients; so sums, codec and optimizer are.
TEST_F(JobDeviceAverageTest, TheSameGradientsLeadToTheParametersOfACpuJob) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};  // of 1,024 elements: one of two chunks of trits
  weights = testing::TempDir() + "sterna-averaged-" + std::to_string(::getpid()) + ".safetensors";
  for (const char* codec : {"ternary", "none"}) {
    job.gradient.codec = codec;
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      if (rule != ScalerRule::own && codec == std::string("none")) continue;
      job.gradient.scaler = rule;
      EXPECT_FALSE(hash_of({.servers = 2, .workers = 2, .ranks_per_worker = 3}).empty());
      const auto expected = fixed_tensors(weights);
      ASSERT_EQ(expected.size(), 3U);
      EXPECT_FALSE(hash_of(on_devices({.seed = 5})).empty());
      EXPECT_EQ(fixed_tensors(weights), expected) << codec << static_cast<int>(rule);
    }
  }
  std::filesystem::remove(weights);
}

TEST_F(JobDeviceAverageTest, StreamsThatRunLateChangeNoBit) {
  expect_the_same_bits(20);
  for (const ScalerRule rule : {ScalerRule::shared, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    expect_the_same_bits(5);
  }
  job.gradient.down = Down::average;
  expect_the_same_bits(5);
}

TEST_F(JobDeviceAverageTest, WhatTheHostEncodesIsTheDevicesAverage) {
  job.gradient.error_feedback = true;
  expect_the_same_bits(3);
  job.gradient.scaler = ScalerRule::shared;
  expect_the_same_bits(3);
  job.gradient.buckets = true;
  expect_the_same_bits(3);
}

TEST_F(JobDeviceAverageTest, NormalizedBatchesMoveByTheAverageOfTheirMoments) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.steps = 2;
  job.batch = 1;
  expect_the_same_bits(1);
}

TEST_F(JobDeviceAverageTest, NoCodeOfTheHostLooksAtADevicesMemory) {
  const std::string expected = hash_of(on_devices({.late = false}));
  EXPECT_EQ(hash_of(on_devices({.seed = 3, .hidden = true})), expected);
}

// One packet of fp32 from each worker is what its server would have averaged.
TEST_F(JobDeviceAverageTest, OneWorkersFloatsAreAveragedAsItsServerWould) {
  job.gradient.codec = "none";
  const auto one = [](std::uint64_t seed) {
    JobLayout layout = on_devices({.seed = seed});
    layout.workers = 1;
    return layout;
  };
  const std::string hash = hash_of(one(1));
  ASSERT_FALSE(hash.empty());
  job.gradient.host = HostRule::each;
  EXPECT_EQ(hash_of(one(2)), hash);
}

TEST_F(JobDeviceAverageTest, AFaultInMidStepEndsTheWorkerWithItsCause) {
  for (const std::uint64_t after : {50, 200, 500}) {
    launch(on_devices({.seed = after, .fails_after = after}));
    finish();
    ASSERT_FALSE(deaths.empty()) << after;
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("worker"),
                                               testing::HasSubstr("the host device has failed")));
  }
}

// ---- on several devices of one worker ----

class JobDevicesAverageTest : public JobDeviceAverageTest {
 protected:
  static JobLayout on_several(const kernels::HostDeviceOptions& options, std::uint32_t devices) {
    JobLayout layout = on_devices(options);
    layout.devices = devices;
    return layout;
  }
  /// As on one device, for any number of them.
  void expect_the_bits_of_one(std::uint64_t seeds) {
    const std::string expected = hash_of(on_devices({.late = false}));
    ASSERT_FALSE(expected.empty());
    for (const std::uint32_t devices : {2, 3, 7}) {
      if (test::kSanitized && devices != 3) continue;
      for (std::uint64_t seed = 0; seed < test::seeds_of(seeds) && !HasFailure(); ++seed) {
        EXPECT_EQ(hash_of(on_several({.seed = seed}, devices)), expected)
            << devices << " devices, seed " << seed;
      }
    }
  }
};

TEST_F(JobDevicesAverageTest, HaveTheBitsOfOne) {
  expect_the_bits_of_one(10);
  for (const ScalerRule rule : {ScalerRule::shared, ScalerRule::last_step, ScalerRule::mean}) {
    job.gradient.scaler = rule;
    expect_the_bits_of_one(3);
  }
  job.gradient.down = Down::average;
  expect_the_bits_of_one(3);
}

TEST_F(JobDevicesAverageTest, AlsoOfWhatIsClippedAndWhatTheHostEncodes) {
  job.gradient.clip_norm = 0.1;
  expect_the_bits_of_one(2);
  job.gradient.error_feedback = true;
  expect_the_bits_of_one(2);
}

TEST_F(JobDevicesAverageTest, WhoeverIsSlow) {
  const std::string expected = hash_of(on_devices({.late = false}));
  for (std::uint32_t slow = 0; slow < 6; ++slow) {
    job.delays = {{.ranks = {slow}, .delay = std::chrono::milliseconds(50)}};
    EXPECT_EQ(hash_of(on_several({.seed = slow}, 3)), expected) << slow;
    EXPECT_EQ(hash_of(on_several({.seed = slow}, 2)), expected) << slow;
  }
}

TEST_F(JobDevicesAverageTest, NoCodeOfTheHostLooksAtTheirMemory) {
  const std::string expected = hash_of(on_devices({.late = false}));
  EXPECT_EQ(hash_of(on_several({.seed = 3, .hidden = true}, 2)), expected);
}

TEST_F(JobDevicesAverageTest, AFaultInMidStepEndsTheWorkerWithItsCause) {
  for (const std::uint64_t after : {50, 300, 800}) {
    launch(on_several({.seed = after, .fails_after = after}, 2));
    finish();
    ASSERT_FALSE(deaths.empty()) << after;
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("worker"),
                                               testing::HasSubstr("the host device has failed")));
  }
}

}  // namespace
}  // namespace sterna::actors
