// A job whose workers have several devices each, logical ones of the host.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "nets/zoo/fixed_gradients.h"
#include "tests/actors/fixed_tensors.h"
#include "tests/actors/job_on_devices.h"

namespace sterna::actors {
namespace {

class JobOnSeveralDevices : public JobOnDevices {
 protected:
  /// Two workers of four ranks each, rank i on device i mod their number.
  static JobLayout of(std::uint32_t devices) {
    return {.servers = 2, .workers = 2, .ranks_per_worker = 4, .devices = devices};
  }
  /// Of the same ranks, a worker and a device for each.
  void expect_the_bits_of_apart(std::uint64_t seeds) {
    const std::string expected = hash_on({.late = false}, {.servers = 2, .workers = 8});
    ASSERT_FALSE(expected.empty());
    for (const std::uint32_t devices : {2, 3, 7}) {
      if (test::kSanitized && devices != 3) continue;
      for (std::uint64_t seed = 0; seed < test::seeds_of(seeds) && !HasFailure(); ++seed) {
        EXPECT_EQ(hash_on({.seed = seed}, of(devices)), expected)
            << devices << " devices, seed " << seed;
      }
    }
  }
};

TEST_F(JobOnSeveralDevices, EndsInTheHashOfAWorkerForEachWhateverComesDown) {
  job.steps = 10;
  job.gradient.check_every = 3;
  expect_the_bits_of_apart(3);
  test::Few ways(3);
  for (const ScalerRule rule : {ScalerRule::shared, ScalerRule::last_step, ScalerRule::mean}) {
    for (const Down down :
         {Down::parameters, Down::parameters_bf16, Down::average, Down::ternary}) {
      if (ways.leaves_out()) continue;
      job.gradient.scaler = rule;
      job.gradient.down = down;
      expect_the_bits_of_apart(1);
    }
  }
  job.gradient.codec = "none";
  job.gradient.scaler = ScalerRule::own;
  job.gradient.down = Down::average;
  for (const char* optimizer : {"momentum", "gd"}) {
    job.optimizer.name = optimizer;
    expect_the_bits_of_apart(2);
  }
}

TEST_F(JobOnSeveralDevices, AlsoOfWhatIsClippedAndFedBack) {
  job.steps = 5;
  job.gradient.clip_norm = 0.1;
  job.gradient.error_feedback = true;
  expect_the_bits_of_apart(2);
}

TEST_F(JobOnSeveralDevices, NetsWithNormsEndInOneHashToo) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.evaluation = {.every = 1, .examples = 8, .batch = 8};
  job.steps = 2;
  job.batch = 1;
  expect_the_bits_of_apart(1);
}

TEST_F(JobOnSeveralDevices, TheSameGradientsLeadToTheParametersOfACpuJob) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};
  weights = testing::TempDir() + "sterna-several-" + std::to_string(::getpid()) + ".safetensors";
  job.gradient.scaler = ScalerRule::shared;
  for (const HostRule host : {HostRule::each, HostRule::average}) {
    for (const Down down : {Down::parameters, Down::average}) {
      if (test::kSanitized && (host == HostRule::each) != (down == Down::parameters)) continue;
      job.gradient.host = host;
      job.gradient.down = down;
      EXPECT_FALSE(hash_of({.servers = 2, .workers = 2, .ranks_per_worker = 4}).empty());
      const auto expected = fixed_tensors(weights);
      ASSERT_EQ(expected.size(), 3U);
      EXPECT_FALSE(hash_on({.seed = 5}, of(3)).empty());
      EXPECT_EQ(fixed_tensors(weights), expected);
    }
  }
  std::filesystem::remove(weights);
}

TEST_F(JobOnSeveralDevices, RanksThatWaitForNobodyHaveOneEach) {
  job.scheme.name = "async";
  EXPECT_FALSE(hash_on({.seed = 1}, of(3)).empty());
}

TEST_F(JobOnSeveralDevices, NoCodeOfTheHostLooksAtTheirMemory) {
  job.steps = 2;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  EXPECT_EQ(hash_on({.seed = 3, .hidden = true}, of(2)), hash_on({.late = false}, of(1)));
}

TEST_F(JobOnSeveralDevices, AFaultInMidStepEndsTheWorkerWithItsCause) {
  expect_a_fault_ends_the_second(of(2));
}

}  // namespace
}  // namespace sterna::actors
