// What a job takes of devices' memory: all of it before the first step, and where that is more than
// there is, one line says so before the first step, with the largest batch that fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "actors/worker/ranks/net_memory.h"
#include "actors/worker/ranks/ranks_on_devices.h"
#include "kernels/device/counting_device.h"
#include "kernels/device/host_device.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

using kernels::DeviceAllocations;

/// A kind of job, of which each keeps other things on its devices.
struct Way {
  std::string name;
  std::function<void(JobConfig& job)> choose;
  std::uint32_t ranks = 1;    ///< of a worker
  std::uint32_t devices = 1;  ///< likewise
  std::uint32_t workers = 2;
};

void average_down(JobConfig& job) {
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
}

void feed_back(JobConfig& job) { job.gradient.error_feedback = true; }

void exchange_within(JobConfig& job) { job.gradient.exchange = ExchangeRule::nccl; }

void look(JobConfig& job) { job.summary = {.tensorboard = true, .every = 3}; }

void step_alone(JobConfig& job, const char* scheme, const char* optimizer = "momentum") {
  job.scheme.name = scheme;
  job.scheme.window = 2;
  job.local_optimizer.name = optimizer;
  job.local_optimizer.learning_rate = 0.01;
}

std::vector<Way> every_way() {
  return {
      {"parameters come down", [](JobConfig&) {}},
      {"bf16 comes down", [](JobConfig& job) { job.gradient.down = Down::parameters_bf16; }},
      {"averages come down", average_down},
      {"averages come down as trits",
       [](JobConfig& job) {
         average_down(job);
         job.gradient.down = Down::ternary;
       }},
      {"some steps' averages come down as floats",
       [](JobConfig& job) {
         average_down(job);
         job.gradient.floating_grad_epoch = 2;
       }},
      {"ranks hold gradients until scalers come",
       [](JobConfig& job) { job.gradient.scaler = ScalerRule::shared; }, 2},
      {"the last step's scalers",
       [](JobConfig& job) { job.gradient.scaler = ScalerRule::last_step; }, 2},
      {"gradients are clipped", [](JobConfig& job) { job.gradient.clip_norm = 1; }, 2},
      {"the host encodes", [](JobConfig& job) { job.gradient.buckets = true; }},
      {"bf16s go up", [](JobConfig& job) { job.gradient.codec = "bf16"; }},
      {"what is left is fed back", feed_back, 2},
      {"what bf16s leave is fed back",
       [](JobConfig& job) {
         feed_back(job);
         job.gradient.codec = "bf16";
       }},
      {"what is left is fed back, in some steps with floats",
       [](JobConfig& job) {
         feed_back(job);
         job.gradient.scaler = ScalerRule::shared;
         job.gradient.floating_grad_epoch = 2;
       },
       2},
      {"gradients are averaged",
       [](JobConfig& job) {
         job.gradient.host = HostRule::average;
         job.gradient.clip_norm = 1;
       },
       4, 2},
      {"gradients stay within", exchange_within, 3, 1, 1},
      {"gradients stay within two devices",
       [](JobConfig& job) {
         exchange_within(job);
         job.gradient.scaler = ScalerRule::shared;
         job.optimizer.name = "adam";
       },
       3, 2, 1},
      {"averages of what stays within are kept",
       [](JobConfig& job) {
         exchange_within(job);
         job.optimizer.average_decay = 0.9;
       },
       2, 1, 1},
      {"what is left stays within two devices",
       [](JobConfig& job) {
         exchange_within(job);
         feed_back(job);
         job.gradient.scaler = ScalerRule::last_step;
       },
       3, 2, 1},
      {"floats stay within",
       [](JobConfig& job) {
         exchange_within(job);
         job.gradient.codec = "none";
       },
       2, 1, 1},
      {"floats stay within two devices",
       [](JobConfig& job) {
         exchange_within(job);
         job.gradient.codec = "none";
       },
       3, 2, 1},
      {"some steps' floats stay within two devices",
       [](JobConfig& job) {
         exchange_within(job);
         feed_back(job);
         job.gradient.floating_grad_epoch = 2;
       },
       3, 2, 1},
      {"bf16s stay within two devices",
       [](JobConfig& job) {
         exchange_within(job);
         job.gradient.codec = "bf16";
       },
       3, 2, 1},
      {"what the average leaves is fed back",
       [](JobConfig& job) {
         feed_back(job);
         job.gradient.host = HostRule::average;
       },
       2, 2},
      {"numbers are looked at", look},
      {"numbers within two devices are looked at",
       [](JobConfig& job) {
         exchange_within(job);
         look(job);
       },
       3, 2, 1},
      {"passes of micro-batches", [](JobConfig& job) { job.micro_batch = 2; }},
      {"bf16s are multiplied", [](JobConfig& job) { job.precision = Precision::bf16; }},
      {"local_sgd", [](JobConfig& job) { step_alone(job, "local_sgd"); }},
      {"aeasgd", [](JobConfig& job) { step_alone(job, "aeasgd"); }, 1, 1, 1},
      {"aeamsgd", [](JobConfig& job) { step_alone(job, "aeamsgd", "gd"); }, 1, 1, 1},
      {"downpour", [](JobConfig& job) { step_alone(job, "downpour"); }, 1, 1, 1},
  };
}

class DeviceMemoryOfAJob : public SimulatedJob {
 protected:
  DeviceMemoryOfAJob() : whole_(job) { whole_.hidden = {20, 12}; }

  JobLayout layout_of(const Way& way, std::uint64_t seed, std::size_t memory) {
    job = whole_;
    way.choose(job);
    devices_.clear();
    JobLayout layout{.workers = way.workers, .ranks_per_worker = way.ranks};
    layout.devices = way.devices;
    if (job.precision == Precision::bf16) layout.evaluator_device = kernels::make_host_device({});
    layout.device = [this, seed, memory](std::uint32_t worker) {
      return devices_.emplace_back(
          kernels::make_host_device({.seed = seed + worker, .memory = memory}));
    };
    return layout;
  }
  /// What is allocated where what worker `number` keeps is made once, before any step.
  DeviceAllocations planned(const Way& way, std::uint32_t number) {
    RanksOnDevices ranks;
    ranks.args.job = job;
    ranks.args.first_rank = number * way.ranks;
    ranks.args.ranks = way.ranks;
    ranks.replicas = replicas_of(job, way.ranks, way.devices);
    ranks.exchanges = job.gradient.exchange == ExchangeRule::nccl;
    ranks.keeps = job.gradient.error_feedback && job.workers_come_again();
    const auto counting = std::make_shared<kernels::CountingDevice>(devices_[number]);
    const MadeOnDevices::Devices on(way.devices, counting);
    const Result<void> made = make_once(ranks, {job.batch, job.micro_batch}, on, loop);
    EXPECT_TRUE(made.ok()) << way.name << ": " << made.error().message;
    return counting->allocations();
  }
  /// Why a job of so large a batch ends before its first step where a device has so much; empty: it
  /// does not.
  std::string refusal(const Way& way, std::size_t memory, const BatchSizes& sizes) {
    const JobLayout layout = layout_of(way, 1, memory);
    job.steps = 2;
    job.batch = sizes.batch;
    job.micro_batch = sizes.micro_batch;
    launch(layout);
    finish();
    if (deaths.empty()) return "";
    EXPECT_TRUE(record.progress.empty()) << way.name;
    return deaths.front();
  }
  std::size_t used_by_the_first() { return kMuch - devices_.front()->free_memory().value(); }

  static constexpr std::size_t kMuch = std::size_t{1} << 30U;
  JobConfig whole_;
  std::vector<std::shared_ptr<kernels::Device>> devices_;
};

TEST_F(DeviceMemoryOfAJob, AllOfItIsTakenBeforeTheFirstStep) {
  test::Few ways(2);
  for (const Way& way : every_way()) {
    if (ways.leaves_out()) continue;
    const JobLayout layout = layout_of(way, 1, kMuch);
    job.steps = 10;
    EXPECT_FALSE(hash_of(layout).empty()) << way.name;
    ASSERT_EQ(devices_.size(), way.workers) << way.name;
    for (std::uint32_t worker = 0; worker < way.workers; ++worker) {
      const DeviceAllocations taken = devices_[worker]->allocations();
      const DeviceAllocations expected = planned(way, worker);
      EXPECT_EQ(taken.device, expected.device) << way.name;
      EXPECT_EQ(taken.host, expected.host) << way.name;
    }
  }
}

TEST_F(DeviceMemoryOfAJob, WhatDoesNotFitIsSaidBeforeTheFirstStepWithWhatDoes) {
  const std::regex line(R"(worker\d: mlp with job\.batch = 64 needs 0\.\d+ GB of device memory, )"
                        R"(device 0 has 0\.\d+ GB free; the largest batch that fits is (\d+))"
                        R"((, or set job\.micro_batch to (\d+))?)");
  test::Few ways(5);
  for (const Way& way : every_way()) {
    if (ways.leaves_out()) continue;
    ASSERT_EQ(refusal(way, kMuch, {.batch = 20}), "") << way.name;
    const std::size_t memory = used_by_the_first();
    const std::string said = refusal(way, memory, {.batch = 64});
    std::smatch found;
    ASSERT_TRUE(std::regex_match(said, found, line)) << way.name << ": " << said;
    const auto most = static_cast<std::uint32_t>(std::stoul(found[1].str()));
    EXPECT_LE(most, 20U) << way.name;
    EXPECT_EQ(refusal(way, memory, {.batch = most}), "") << way.name << ": " << said;
    EXPECT_THAT(refusal(way, memory, {.batch = most + 1}),
                testing::HasSubstr("the largest batch that fits is " + found[1].str()))
        << way.name;
    if (!found[3].matched) continue;
    const auto images = static_cast<std::uint32_t>(std::stoul(found[3].str()));
    EXPECT_EQ(refusal(way, memory, {64, images}), "") << way.name << ": " << said;
  }
}

TEST_F(DeviceMemoryOfAJob, NotOneImageMayFit) {
  EXPECT_THAT(refusal(every_way().front(), 10'000, {.batch = 4}),
              testing::EndsWith("GB free; not even one image fits; take a smaller net"));
}

TEST_F(DeviceMemoryOfAJob, TheEvaluatorSaysTheSameOfItsBatch) {
  job = whole_;
  job.steps = 2;
  job.evaluation.batch = 60;
  launch({.workers = 2, .evaluator_device = kernels::make_host_device({.memory = 300'000})});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_THAT(deaths.front(), testing::ContainsRegex(
                                  "^evaluator: mlp with evaluator.batch = 60 needs 0.[0-9]+ GB of "
                                  "device memory, device 0 has 0.0003 GB free; the largest batch "
                                  "that fits is [0-9]+$"));
}

}  // namespace
}  // namespace sterna::actors
