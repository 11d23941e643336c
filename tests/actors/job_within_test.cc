// A job without servers (gradient.exchange): one worker has all ranks, and what servers have. It
// ends in the bits of the same ranks at servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "actors/checkpoint/manifest.h"
#include "kernels/device/host_device.h"
#include "nets/zoo/fixed_gradients.h"
#include "tests/actors/fixed_tensors.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

class JobWithin : public SimulatedJob {
 protected:
  JobWithin() {
    job.hidden = {20, 12};
    if (test::kSanitized) job.steps = 12;
  }

  std::string hash_at_servers(std::uint32_t ranks) {
    job.gradient.exchange = ExchangeRule::servers;
    return hash_of({.servers = 2, .workers = ranks});
  }
  /// Each worker on a device of its own.
  std::string hash_at_servers_of_devices(std::uint32_t ranks) {
    job.gradient.exchange = ExchangeRule::servers;
    JobLayout layout{.servers = 2, .workers = ranks};
    layout.device = [](std::uint32_t) { return kernels::make_host_device({.late = false}); };
    return hash_of(layout);
  }
  JobLayout on_devices(kernels::HostDeviceOptions options, std::uint32_t ranks,
                       std::uint32_t devices) {
    job.gradient.exchange = ExchangeRule::nccl;
    JobLayout layout{.workers = 1, .ranks_per_worker = ranks};
    layout.device = [options](std::uint32_t) { return kernels::make_host_device(options); };
    layout.devices = devices;
    return layout;
  }
  std::string hash_within(std::uint32_t ranks, std::uint32_t cores = 1) {
    job.gradient.exchange = ExchangeRule::nccl;
    return hash_of({.workers = 1, .ranks_per_worker = ranks, .cores = cores});
  }
};

TEST_F(JobWithin, EndsInTheHashOfTheSameRanksAtServers) {
  for (const ScalerRule rule :
       {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step, ScalerRule::mean}) {
    job.gradient.scaler = rule;
    for (const char* optimizer : {"gd", "momentum", "adam"}) {
      job.optimizer.name = optimizer;
      EXPECT_EQ(hash_within(3), hash_at_servers(3)) << optimizer;
      EXPECT_EQ(hash_within(3, 2), hash_at_servers(3)) << optimizer;
    }
  }
}

TEST_F(JobWithin, DevicesEndInTheHashOfTheSameDevicesAtServersWhateverTheirStreamsDo) {
  const std::vector<std::pair<const char*, ScalerRule>> ways = {
      {"none", ScalerRule::own},       {"ternary", ScalerRule::own},
      {"ternary", ScalerRule::shared}, {"ternary", ScalerRule::last_step},
      {"ternary", ScalerRule::mean},   {"ternary_entropy", ScalerRule::own},
      {"bf16", ScalerRule::own}};
  test::Few few(4);
  for (const auto& [codec, rule] : ways) {
    job.gradient.codec = codec;
    job.gradient.scaler = rule;
    for (const char* optimizer : {"gd", "momentum", "adam"}) {
      job.optimizer.name = optimizer;
      if (few.leaves_out()) continue;
      const std::string expected = hash_at_servers_of_devices(3);
      ASSERT_FALSE(expected.empty());
      for (const std::uint32_t devices : {1, 2}) {
        for (std::uint64_t seed = 0; seed < test::seeds_of(4) && !HasFailure(); ++seed) {
          EXPECT_EQ(hash_of(on_devices({.seed = seed}, 3, devices)), expected)
              << codec << ", " << optimizer << ", " << devices << " devices, seed " << seed;
        }
      }
    }
  }
}

TEST_F(JobWithin, WhatIsFedBackOnDevicesEndsInTheHashOfTheSameDevicesAtServersToo) {
  job.gradient.error_feedback = true;
  job.optimizer.name = "momentum";
  test::Few few(3);
  for (const ScalerRule rule :
       {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step, ScalerRule::mean}) {
    for (const double clip : {2.5, 0.0}) {  // without one trits stand for what they are drawn under
      if (few.leaves_out()) continue;
      job.gradient.scaler = rule;
      job.gradient.clip = clip;
      const std::string expected = hash_at_servers_of_devices(3);
      ASSERT_FALSE(expected.empty());
      EXPECT_EQ(hash_of(on_devices({.seed = 9}, 3, 1)), expected);
      for (std::uint64_t seed = 0; seed < test::seeds_of(3) && !HasFailure(); ++seed) {
        EXPECT_EQ(hash_of(on_devices({.seed = seed}, 3, 2)), expected)
            << static_cast<int>(rule) << ", clip " << clip << ", seed " << seed;
      }
    }
  }
}

// Each device sums its slice of all ranks' gradients; those of biases have fewer elements than
// there are devices.
TEST_F(JobWithin, Fp32EndsInOneHashOnAnyNumberOfDevices) {
  job.gradient.codec = "none";
  job.optimizer.name = "momentum";
  job.steps = 6;
  const std::string expected = hash_at_servers_of_devices(7);
  ASSERT_FALSE(expected.empty());
  for (std::uint32_t devices = 1; devices <= 7; ++devices) {
    EXPECT_EQ(hash_of(on_devices({.seed = devices}, 7, devices)), expected)
        << devices << " devices";
  }
}

// Every third epoch is one of floats, of which others' trits and their sums are no part; with
// error feedback what trits had left travels with them.
TEST_F(JobWithin, EpochsOfFloatsComeAndGoOnAnyNumberOfDevices) {
  job.gradient.floating_grad_epoch = 3;
  job.examples = 5 * job.batch;  // at 3 and 4 ranks an epoch ends within a step now and then
  job.optimizer.name = "momentum";
  const auto expect_one_hash = [&](std::uint32_t ranks, const std::vector<std::uint32_t>& on) {
    const std::string expected = hash_at_servers_of_devices(ranks);
    ASSERT_FALSE(expected.empty());
    for (const std::uint32_t devices : on) {
      for (std::uint64_t seed = 0; seed < test::seeds_of(3) && !HasFailure(); ++seed) {
        EXPECT_EQ(hash_of(on_devices({.seed = seed}, ranks, devices)), expected)
            << devices << " devices, seed " << seed;
      }
    }
  };
  expect_one_hash(3, {1, 2});
  job.gradient.scaler = ScalerRule::shared;
  expect_one_hash(4, {1, 3});
  job.gradient.error_feedback = true;
  job.gradient.scaler = ScalerRule::last_step;
  expect_one_hash(3, {2});
  job.gradient.codec = "bf16";
  job.gradient.scaler = ScalerRule::own;
  expect_one_hash(3, {1, 2});
  job.gradient.floating_grad_epoch = 1;  // all of them
  const std::string of_floats = hash_of(on_devices({}, 3, 2));
  job.gradient.floating_grad_epoch = 0;
  EXPECT_NE(hash_of(on_devices({}, 3, 2)), of_floats);
  job.gradient.codec = "none";
  job.gradient.error_feedback = false;
  EXPECT_EQ(hash_of(on_devices({}, 3, 2)), of_floats);
}

TEST_F(JobWithin, GradientsThatAreAddedUpEndInOneHashToo) {
  job.scheme.combine = CombineRule::sum;
  job.optimizer.learning_rate /= 3;
  for (const auto& [codec, rule] : {std::pair("ternary", ScalerRule::own),
                                    {"ternary", ScalerRule::shared},
                                    {"none", ScalerRule::own},
                                    {"bf16", ScalerRule::own}}) {
    job.gradient.codec = codec;
    job.gradient.scaler = rule;
    const std::string expected = hash_at_servers_of_devices(3);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(hash_of(on_devices({.seed = 1}, 3, 1)), expected) << codec;
    EXPECT_EQ(hash_of(on_devices({.seed = 2}, 3, 2)), expected) << codec;
  }
}

// Gradients are clipped, weights decay at the servers, small tensors travel as fp32, others stay as
// they are.
TEST_F(JobWithin, TensorsThatDifferTakeTheirOwnWays) {
  job.gradient.min_size = 100;
  job.gradient.clip_norm = 0.1;
  job.optimizer.decay_at = DecayAt::server;
  job.gradient.tensors = {{"logits/weights", "none"}};
  job.init.train_only = {"fc1/weights", "logits"};
  const std::string expected = hash_at_servers_of_devices(4);
  EXPECT_EQ(hash_of(on_devices({.seed = 1}, 4, 1)), expected);
  EXPECT_EQ(hash_of(on_devices({.seed = 2}, 4, 3)), expected);
  EXPECT_EQ(hash_of(on_devices({.seed = 3}, 4, 7)), expected);
  EXPECT_EQ(hash_within(4), hash_at_servers(4));
}

TEST_F(JobWithin, NoCodeOfTheHostLooksAtTheDevicesMemory) {
  job.steps = 2;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.error_feedback = true;
  for (const char* codec : {"ternary", "none"}) {
    job.gradient.codec = codec;
    const std::string expected = hash_at_servers_of_devices(3);
    EXPECT_EQ(hash_of(on_devices({.seed = 3, .hidden = true}, 3, 2)), expected) << codec;
  }
  job.gradient.codec = "ternary";
  job.gradient.floating_grad_epoch = 2;
  job.examples = 3 * job.batch;  // a step
  const std::string expected = hash_at_servers_of_devices(3);
  EXPECT_EQ(hash_of(on_devices({.seed = 4, .hidden = true}, 3, 2)), expected);
}

// Statistics are moved where a server would, which only the evaluator asks for.
TEST_F(JobWithin, NetsWithNormsAndLayersOfEveryKindEndInOneHashToo) {
  job.hidden.clear();
  job.steps = 2;
  job.batch = 1;
  job.evaluation = {.every = 1, .examples = 8, .batch = 8};
  for (const char* net : {"lenet", "cifarnet", "resnet_20"}) {
    job.net = net;
    const std::string expected = hash_at_servers_of_devices(3);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(hash_of(on_devices({.seed = 1}, 3, 2)), expected) << net;
  }
}

TEST_F(JobWithin, TheSameGradientsLeadDevicesToTheParametersOfCpusAtServers) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};  // of 1,024 elements: one of two chunks of trits
  weights = testing::TempDir() + "sterna-within-" + std::to_string(::getpid()) + ".safetensors";
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    for (const bool error_feedback : {false, true}) {
      job.gradient.scaler = rule;
      job.gradient.error_feedback = error_feedback;
      EXPECT_FALSE(hash_at_servers(3).empty());
      const auto expected = fixed_tensors(weights);
      ASSERT_EQ(expected.size(), 3U);
      EXPECT_FALSE(hash_of(on_devices({.seed = 5}, 3, 2)).empty());
      EXPECT_EQ(fixed_tensors(weights), expected);
    }
  }
  std::filesystem::remove(weights);
}

TEST_F(JobWithin, AFaultInMidStepEndsTheWorkerWithItsCause) {
  job.steps = 30;
  for (const std::uint64_t after : {200, 1000, 3000, 5000}) {
    launch(on_devices({.seed = after, .fails_after = after}, 3, 2));
    finish();
    ASSERT_FALSE(deaths.empty()) << after;
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("worker0: "),
                                               testing::HasSubstr("the host device has failed")))
        << after;
  }
}

TEST_F(JobWithin, AFaultThatIsInjectedEndsTheWorkerWithItsCauseToo) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    launch(on_devices({.seed = seed}, 3, 2));
    const Result<void> injected = inject_device_fault("worker0");
    ASSERT_TRUE(injected.ok()) << injected.error().message;
    finish();
    ASSERT_FALSE(deaths.empty()) << seed;
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("worker0: "),
                                               testing::HasSubstr("the host device has failed")))
        << seed;
  }
}

TEST_F(JobWithin, WhatIsNoNumberOnADeviceEndsTheRunNamingRankAndStep) {
  job.optimizer.learning_rate = 1e30;
  for (const char* codec : {"ternary", "none"}) {
    job.gradient.codec = codec;
    launch(on_devices({.seed = 1}, 3, 2));
    finish();
    ASSERT_FALSE(deaths.empty()) << codec;
    EXPECT_THAT(deaths.front(),
                testing::AllOf(testing::StartsWith("worker0: rank "), testing::HasSubstr("step ")));
    EXPECT_FALSE(record.finished);
  }
}

// ---- what servers do beside training ----

class JobWithinKept : public JobWithin {
 protected:
  JobWithinKept() {
    job.steps = 12;
    job.evaluation.every = 4;
    job.checkpoint.every_steps = 4;
    job.checkpoint.keep = 10;
    job.checkpoint.folder = folder_.string();
  }
  ~JobWithinKept() override { std::filesystem::remove_all(folder_); }

  std::string resumed(std::uint64_t step, JobLayout layout) {
    const JobConfig before = job;
    layout.resume = (folder_ / checkpoint_name(step)).string();
    const Manifest manifest = read_manifest(layout.resume).value();
    job.first_step = manifest.step;
    job.first_position = manifest.position;
    job.resumes = true;
    const std::string hash = hash_of(layout);
    job = before;
    return hash;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("sterna-within-kept-" + std::to_string(::getpid()));
};

TEST_F(JobWithinKept, GoesOnFromACheckpointAsIfNothingHadBeen) {
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::last_step}) {
    for (const bool error_feedback : {false, true}) {
      job.gradient.scaler = rule;
      job.gradient.error_feedback = error_feedback;
      const std::string hash = hash_within(3, 2);
      ASSERT_FALSE(hash.empty());
      EXPECT_EQ(kept->made, 3U);
      EXPECT_THAT(kept->said, testing::IsEmpty());
      const JobLayout layout{.workers = 1, .ranks_per_worker = 3};
      EXPECT_EQ(resumed(4, layout), hash);
      // And at servers.
      job.gradient.exchange = ExchangeRule::servers;
      EXPECT_EQ(resumed(8, {.servers = 2, .workers = 3}), hash);
    }
  }
}

TEST_F(JobWithinKept, DevicesGoOnFromACheckpointToo) {
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::last_step}) {
    for (const char* optimizer : {"gd", "momentum", "rmsprop"}) {
      job.gradient.error_feedback = optimizer == std::string_view("momentum");
      job.gradient.scaler = rule;
      job.optimizer.name = optimizer;
      const std::string hash = hash_of(on_devices({.seed = 1}, 3, 2));
      ASSERT_FALSE(hash.empty());
      EXPECT_EQ(kept->made, 3U);
      EXPECT_THAT(kept->said, testing::IsEmpty());
      EXPECT_EQ(resumed(4, on_devices({.seed = 2}, 3, 2)), hash);
      EXPECT_EQ(resumed(8, on_devices({.seed = 3}, 3, 1)), hash);
    }
  }
}

TEST_F(JobWithinKept, AndTheirMovingAveragesDo) {
  job.optimizer.average_decay = 0.9;
  const std::string hash = hash_of(on_devices({.seed = 1}, 3, 2));
  ASSERT_FALSE(hash.empty());
  const double loss = record.evaluated.back().loss;
  EXPECT_EQ(resumed(4, on_devices({.seed = 2}, 3, 2)), hash);
  EXPECT_EQ(record.evaluated.back().loss, loss);
  job.gradient.exchange = ExchangeRule::servers;  // of the CPU's, which take up what devices left
  EXPECT_FALSE(resumed(8, {.servers = 2, .workers = 3}).empty());
}

TEST_F(JobWithinKept, CheckpointsByTimeAreNamedAsItRuns) {
  job.steps = 60;
  job.gradient.scaler = ScalerRule::last_step;
  job.checkpoint.every_steps = 0;
  job.checkpoint.every_seconds = 0.02;
  network.set_delay([](const std::string&, const std::string&) { return Duration(1'000'000); });
  const std::string hash = hash_of(on_devices({.seed = 1}, 3, 2));
  ASSERT_FALSE(hash.empty());
  EXPECT_GT(kept->made, 1U);
  job.checkpoint.every_seconds = 0;
  EXPECT_EQ(hash_of(on_devices({.seed = 2}, 3, 2)), hash);
}

// The evaluator is a long way off.
TEST_F(JobWithin, ASlowEvaluatorStopsTrainingOrSkipsVersionsAsAtServers) {
  job.steps = 60;
  job.evaluation.every = 2;
  const auto losses = [&] {
    std::map<std::uint64_t, double> losses;
    for (const Evaluated& one : record.evaluated) losses[one.step] = one.loss;
    return losses;
  };
  const std::string hash = hash_of(on_devices({.seed = 1}, 3, 2));
  const std::map<std::uint64_t, double> all = losses();
  ASSERT_EQ(all.size(), 30U);
  network.set_delay([](const std::string& from, const std::string& to) {
    const bool away = from == "evaluator" || to == "evaluator";
    return std::chrono::milliseconds(away ? 40 : 1);
  });
  for (const bool devices : {true, false}) {
    const JobLayout layout =
        devices ? on_devices({.seed = 2}, 3, 2) : JobLayout{.workers = 1, .ranks_per_worker = 3};
    job.evaluation.behind = Behind::wait;
    const std::string waited = hash_of(layout);
    if (devices) {
      EXPECT_EQ(waited, hash);
      EXPECT_EQ(losses(), all);
    }
    EXPECT_GT(record.waits.size(), 2U);
    job.evaluation.behind = Behind::skip;
    EXPECT_EQ(hash_of(layout), waited);
    EXPECT_GT(record.evaluated.back().skipped, 0U);
    EXPECT_EQ(record.evaluated.back().skipped + record.evaluated.size(), 30U);
    for (const auto& [step, loss] : losses()) {
      EXPECT_TRUE(!devices || loss == all.at(step)) << step;
    }
  }
}

TEST_F(JobWithin, AnEvaluatorThatWasLostGoesOn) {
  job.steps = 60;
  job.evaluation.every = 2;
  const JobLayout layout = on_devices({.seed = 1}, 3, 2);
  const std::string hash = hash_of(layout);
  launch(layout);
  loop.run_until([&] { return record.evaluated.size() == 5; }, loop.now() + std::chrono::hours(1));
  lose("evaluator");
  bring_back("evaluator");
  finish();
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
  EXPECT_EQ(record.evaluated.back().step, 60U);
}

TEST_F(JobWithin, MovingAveragesAreKeptOnCpusAndOnTheFirstOfDevices) {
  job.steps = 30;
  job.optimizer.average_decay = 0.9;
  job.evaluation = {.every = 5, .of = EvaluatedOf::both};
  EXPECT_EQ(hash_within(3), hash_at_servers(3));
  const auto losses = [&] {
    std::map<std::pair<std::uint64_t, schema::PayloadKind>, double> losses;
    for (const Evaluated& one : record.evaluated) losses[{one.step, one.of}] = one.loss;
    return losses;
  };
  const std::string hash = hash_at_servers_of_devices(3);
  const auto at_servers = losses();
  ASSERT_EQ(at_servers.size(), 2 * (job.steps / job.evaluation.every));
  for (const std::uint32_t devices : {1, 2}) {
    EXPECT_EQ(hash_of(on_devices({.seed = devices}, 3, devices)), hash);
    EXPECT_EQ(losses(), at_servers);
  }
}

TEST_F(JobWithin, WhatDevicesDoNotDoIsRefusedBeforeTheFirstStep) {
  const auto cause = [&] {
    launch(on_devices({}, 2, 2));
    finish();
    EXPECT_TRUE(record.progress.empty());
    return deaths.empty() ? "" : deaths.front();
  };
  const JobConfig good = job;
  const auto refused = [&](std::string_view key) {
    EXPECT_THAT(cause(), testing::AllOf(testing::StartsWith("worker0: no device does "),
                                        testing::HasSubstr(std::string(key))));
    job = good;
  };
  job.gradient.buckets = true;
  refused("gradient.buckets");
  job.gradient.codec = "topk";
  refused("gradient.codec = \"topk\"");
  job.scheme.rank_rates = {1, 2};
  refused("scheme.rank_rates");
  job.gradient.codec = "sign";
  job.scheme.combine = CombineRule::vote;
  refused("gradient.codec = \"sign\"");
}

}  // namespace
}  // namespace sterna::actors
