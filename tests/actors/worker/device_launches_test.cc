// How often a job's workers launch what encodes their gradients.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>

#include "kernels/device/host_device.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

using kernels::EncodePass;

class CountLaunches final : public kernels::HostDeviceWatch {
 public:
  void launched(EncodePass pass, const kernels::EncodeLaunch& /*launch*/) override {
    const std::lock_guard lock(mutex_);
    ++launches_[pass];
  }
  std::uint64_t of(EncodePass pass) {
    const std::lock_guard lock(mutex_);
    return launches_[pass];
  }

 private:
  std::mutex mutex_;
  std::map<EncodePass, std::uint64_t> launches_;
};

class LaunchesOfAJob : public SimulatedJob {
 protected:
  LaunchesOfAJob() {
    job.hidden = {20, 12};
    job.steps = 5;
  }
  std::shared_ptr<CountLaunches> launches(JobLayout layout = {.workers = 2}) {
    auto watch = std::make_shared<CountLaunches>();
    layout.device = [watch](std::uint32_t worker) {
      return kernels::make_host_device({.seed = worker, .watch = watch});
    };
    EXPECT_FALSE(hash_of(layout).empty());
    return watch;
  }
  static constexpr std::uint64_t kSteps = 2 * 5;  // of both workers
};

TEST_F(LaunchesOfAJob, GradientsThatAreClippedTogetherAreEncodedTogether) {
  job.gradient.clip_norm = 1;
  const auto own = launches();
  EXPECT_EQ(own->of(EncodePass::measure), kSteps);
  EXPECT_EQ(own->of(EncodePass::ternarize), kSteps);
  job.gradient.scaler = ScalerRule::last_step;
  const auto last = launches();
  EXPECT_EQ(last->of(EncodePass::measure), 2U);  // of the first step
  EXPECT_EQ(last->of(EncodePass::ternarize_and_measure), kSteps - 2);
}

TEST_F(LaunchesOfAJob, AveragesOfWhatIsClippedAreEncodedTogether) {
  job.gradient.clip_norm = 1;
  job.gradient.host = HostRule::average;
  const auto found = launches({.workers = 2, .ranks_per_worker = 3});
  EXPECT_EQ(found->of(EncodePass::measure), kSteps);
  EXPECT_EQ(found->of(EncodePass::ternarize), kSteps);
}

TEST_F(LaunchesOfAJob, WhatARanksWindowHasComeToIsEncodedTogether) {
  job.scheme.name = "sagn";
  job.scheme.window = 2;
  job.local_optimizer.name = "momentum";
  job.local_optimizer.learning_rate = 0.01;
  const auto found = launches();
  EXPECT_EQ(found->of(EncodePass::measure), kSteps);
  EXPECT_EQ(found->of(EncodePass::ternarize), kSteps);
}

TEST_F(LaunchesOfAJob, ThoseThatComeFromAPassOneByOneAreNot) {
  const auto found = launches();
  EXPECT_EQ(found->of(EncodePass::measure), 6 * kSteps);  // weights and biases of three layers
  EXPECT_EQ(found->of(EncodePass::ternarize), 6 * kSteps);
}

}  // namespace
}  // namespace sterna::actors
