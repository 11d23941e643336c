// Ranks on devices that step by themselves between exchanges: whatever their streams do, the bits
// are the same, and where gradients are so, a CPU's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "actors/checkpoint/manifest.h"
#include "kernels/device/host_device.h"
#include "kernels/optimizer/optimizer.h"
#include "nets/zoo/fixed_gradients.h"
#include "tests/actors/fixed_tensors.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

using kernels::HostDeviceOptions;
using testing::HasSubstr;

class WindowsOnDevices : public SimulatedJob {
 protected:
  WindowsOnDevices() {
    job.hidden = {20, 12};
    job.steps = 6;
    job.evaluation.every = 0;
    job.scheme.window = 3;
    job.local_optimizer.name = "momentum";
    job.local_optimizer.learning_rate = 0.01;
  }
  ~WindowsOnDevices() override { std::filesystem::remove_all(folder_); }

  /// Of one rank, or, where all ranks make a version, of two workers with two each.
  void choose(const std::string& scheme) {
    job.scheme.name = scheme;
    together_ = find_scheme_facts(scheme)->together;
    job.local_optimizer.name = scheme == "aeamsgd" ? "gd" : "momentum";  // it has its own
  }
  JobLayout on_cpus() const {
    if (!together_) return {.servers = 2};
    return {.servers = 2, .workers = 2, .ranks_per_worker = 2};
  }
  JobLayout on(HostDeviceOptions options, std::uint32_t devices = 1) const {
    JobLayout layout = on_cpus();
    layout.device = [options](std::uint32_t worker) {
      HostDeviceOptions own = options;
      own.seed = 1000 * options.seed + worker;
      return kernels::make_host_device(own);
    };
    layout.devices = devices;
    return layout;
  }
  void expect_the_same_bits(std::uint64_t seeds) {
    const std::string expected = hash_of(on({.late = false}));
    ASSERT_FALSE(expected.empty());
    for (std::uint64_t seed = 0; seed < test::seeds_of(seeds) && !HasFailure(); ++seed) {
      const std::uint32_t devices = 2 - seed % 2;
      EXPECT_EQ(hash_of(on({.seed = seed}, devices)), expected)
          << job.scheme.name << ", seed " << seed;
    }
  }
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

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("sterna-windows-" + std::to_string(::getpid()));

 private:
  bool together_ = false;
};

const std::vector<const char*> kWindows = {"downpour", "agn", "sagn", "local_sgd"};
const std::vector<const char*> kElastic = {"aeasgd",
                                           "aeamsgd"};  // ranks with parameters of their own

std::vector<const char*> all_schemes() {
  std::vector<const char*> all = kWindows;
  all.insert(all.end(), kElastic.begin(), kElastic.end());
  return all;
}

TEST_F(WindowsOnDevices, StreamsThatRunLateChangeNoBit) {
  for (const char* scheme : all_schemes()) {
    choose(scheme);
    for (const char* codec : {"ternary", "none", "bf16"}) {
      job.gradient.codec = codec;
      expect_the_same_bits(6);
    }
  }
}

TEST_F(WindowsOnDevices, NorIfGradientsAreClippedAndTheHostEncodesThem) {
  job.gradient.clip_norm = 0.1;
  job.gradient.error_feedback = true;
  for (const char* scheme : kWindows) {
    choose(scheme);
    expect_the_same_bits(2);
  }
  job.gradient.error_feedback = false;
  job.gradient.buckets = true;
  for (const char* scheme : kElastic) {
    choose(scheme);
    expect_the_same_bits(2);
  }
}

TEST_F(WindowsOnDevices, NorWithStatisticsOfWhichServersGetTheMean) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.steps = 2;
  job.batch = 1;
  job.scheme.window = 2;
  job.evaluation = {.every = 1, .examples = 8, .batch = 8};
  test::Few schemes(2);
  for (const char* scheme : {"local_sgd", "agn", "aeamsgd"}) {
    if (schemes.leaves_out()) continue;
    choose(scheme);
    expect_the_same_bits(2);
  }
}

TEST_F(WindowsOnDevices, TheSameGradientsLeadToTheParametersOfACpuJob) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};  // of 1,024 elements: one of two chunks of trits
  std::filesystem::create_directories(folder_);
  weights = (folder_ / "weights.safetensors").string();
  for (const char* scheme : all_schemes()) {
    choose(scheme);
    const bool own_momentum = job.local_optimizer.name == "gd";
    std::map<std::string_view, std::map<std::string, std::vector<float>>> by_optimizer;
    for (const std::string_view optimizer : kernels::optimizer_names()) {
      if (test::kSanitized && optimizer != "gd" && optimizer != "momentum") continue;
      if (own_momentum && optimizer != "gd") continue;
      job.local_optimizer.name = optimizer;
      EXPECT_FALSE(hash_of(on_cpus()).empty());
      const auto& expected = by_optimizer[optimizer] = fixed_tensors(weights);
      ASSERT_EQ(expected.size(), 3U);
      EXPECT_FALSE(hash_of(on({.seed = 5}, 2)).empty());
      EXPECT_EQ(fixed_tensors(weights), expected) << scheme << ", " << optimizer;
    }
    // Of what is pushed only differences depend on a rank's own steps.
    const bool differ = by_optimizer["gd"] != by_optimizer["momentum"];
    EXPECT_EQ(differ, find_scheme_facts(scheme)->differences) << scheme;
  }
}

TEST_F(WindowsOnDevices, NoCodeOfTheHostLooksAtTheirMemory) {
  job.steps = 2;
  for (const char* scheme : {"agn", "local_sgd", "aeasgd", "aeamsgd"}) {
    choose(scheme);
    EXPECT_EQ(hash_of(on({.seed = 3, .hidden = true})), hash_of(on({.late = false}))) << scheme;
  }
}

TEST_F(WindowsOnDevices, GoOnFromACheckpointAsIfNothingHadBeen) {
  job.steps = 12;
  job.checkpoint.every_steps = 4;
  job.checkpoint.keep = 10;
  job.checkpoint.folder = folder_.string();
  test::Few ways(5);
  for (const char* scheme : kWindows) {
    choose(scheme);
    for (const char* optimizer : {"gd", "momentum", "adam"}) {
      if (ways.leaves_out()) continue;
      job.local_optimizer.name = optimizer;
      const std::string hash = hash_of(on({.seed = 1}));
      ASSERT_FALSE(hash.empty());
      EXPECT_EQ(kept->made, 3U);
      EXPECT_THAT(kept->said, testing::IsEmpty());
      EXPECT_EQ(resumed(4, on({.seed = 2})), hash) << scheme << ", " << optimizer;
      EXPECT_EQ(resumed(8, on({.seed = 3}, 2)), hash) << scheme << ", " << optimizer;
      std::filesystem::remove_all(folder_);
    }
  }
}

TEST_F(WindowsOnDevices, AndWithParametersOfTheirOwn) {
  job.steps = 12;
  job.checkpoint.every_steps = 4;
  job.checkpoint.keep = 10;
  job.checkpoint.folder = folder_.string();
  for (const char* scheme : kElastic) {
    choose(scheme);
    ASSERT_FALSE(hash_of(on({.seed = 1})).empty());
    const std::string hash = resumed(4, on({.late = false}));
    ASSERT_FALSE(hash.empty());
    EXPECT_EQ(resumed(4, on({.seed = 2})), hash) << scheme;
    EXPECT_EQ(resumed(4, on({.seed = 3}, 2)), hash) << scheme;
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(WindowsOnDevices, SlotsGoAlongFromACheckpointThatHasNoParametersOfARanksOwn) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};
  job.steps = 12;
  job.checkpoint.every_steps = 4;
  job.checkpoint.keep = 10;
  job.checkpoint.folder = folder_.string();
  std::filesystem::create_directories(folder_);
  weights = (folder_ / "weights.safetensors").string();
  choose("local_sgd");
  ASSERT_FALSE(hash_of(on_cpus()).empty());
  choose("aeasgd");
  ASSERT_FALSE(resumed(4, on_cpus()).empty());
  EXPECT_THAT(log, testing::Contains(HasSubstr("of its own steps: its parameters start anew")));
  const auto expected = fixed_tensors(weights);
  ASSERT_FALSE(resumed(4, on({.seed = 5})).empty());
  EXPECT_EQ(fixed_tensors(weights), expected);
}

TEST_F(WindowsOnDevices, AFaultInMidWindowEndsTheWorkerWithItsCause) {
  choose("local_sgd");
  for (const std::uint64_t after : {100, 700, 1500}) {
    launch(on({.seed = after, .fails_after = after}));
    finish();
    ASSERT_FALSE(deaths.empty()) << after;
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("worker"),
                                               HasSubstr("the host device has failed")));
  }
}

}  // namespace
}  // namespace sterna::actors
