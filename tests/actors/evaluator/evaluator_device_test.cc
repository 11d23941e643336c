// An evaluator that computes on a device finds what one on a CPU finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "nets/zoo/fixed_gradients.h"
#include "runtime/base/file.h"
#include "tests/actors/job_on_devices.h"

namespace sterna::actors {
namespace {

using kernels::HostDeviceOptions;
using testing::HasSubstr;

class EvaluatorOnADevice : public JobOnDevices {
 protected:
  EvaluatorOnADevice() {
    weights =
        testing::TempDir() + "sterna-evaluated-" + std::to_string(::getpid()) + ".safetensors";
  }
  ~EvaluatorOnADevice() override { std::filesystem::remove(weights); }

  /// What the evaluator found, and what it wrote of a job that computes on CPUs.
  struct Found {
    std::string hash;
    std::string file;
    std::vector<Evaluated> evaluated;
  };
  Found found_on(std::shared_ptr<kernels::Device> device) {
    JobLayout layout{.servers = 2, .workers = 2};
    layout.evaluator_device = std::move(device);
    Found found{.hash = hash_of(layout), .file = {}, .evaluated = record.evaluated};
    const Result<std::string> file = read_file(weights);
    found.file = file ? *file : file.error().message;
    return found;
  }
  void expect_what_a_cpu_finds(const HostDeviceOptions& options) {
    const Found cpu = found_on(nullptr);
    ASSERT_FALSE(cpu.hash.empty());
    const Found device = found_on(kernels::make_host_device(options));
    EXPECT_EQ(device.hash, cpu.hash);
    EXPECT_EQ(device.file, cpu.file);
    ASSERT_EQ(device.evaluated.size(), cpu.evaluated.size());
    for (std::size_t i = 0; i < cpu.evaluated.size(); ++i) {
      const Evaluated &here = cpu.evaluated[i], &there = device.evaluated[i];
      EXPECT_EQ(there.step, here.step);
      EXPECT_EQ(there.of, here.of);
      EXPECT_EQ(there.precision_at_1, here.precision_at_1) << here.step;
      EXPECT_EQ(there.recall_at_5, here.recall_at_5) << here.step;
      EXPECT_NEAR(there.loss, here.loss, 1e-5 * here.loss) << here.step;
    }
  }
};

TEST_F(EvaluatorOnADevice, FindsWhatACpuFindsAndWritesItsBits) {
  expect_what_a_cpu_finds({.seed = 1});
  job.optimizer.average_decay = 0.9;
  expect_what_a_cpu_finds({.seed = 2, .hidden = true});
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 70, 3};
  expect_what_a_cpu_finds({.seed = 3});
}

TEST_F(EvaluatorOnADevice, OfLenetAndOfNetsWithStatisticsToo) {
  train_lenet();
  job.steps = 4;
  job.evaluation.every = 2;
  expect_what_a_cpu_finds({.seed = 1});
  job.net = "resnet_20";
  job.steps = 2;
  job.batch = 2;
  job.evaluation = {.every = 1, .examples = 8, .batch = 8};
  expect_what_a_cpu_finds({.seed = 2});
}

TEST_F(EvaluatorOnADevice, EndsWithTheCauseOfItsFault) {
  launch({.workers = 2,
          .evaluator_device = kernels::make_host_device({.seed = 1, .fails_after = 100})});
  expect_died_of_its_device("evaluator");
}

TEST_F(EvaluatorOnADevice, EndsWithTheCauseOfAFaultThatIsInjectedToo) {
  launch({.workers = 2, .evaluator_device = kernels::make_host_device({.seed = 1})});
  const Result<void> injected = inject_device_fault("evaluator");
  ASSERT_TRUE(injected.ok()) << injected.error().message;
  expect_died_of_its_device("evaluator");
}

TEST_F(EvaluatorOnADevice, ThatIsToUseAGpuAndFindsNoneEndsBeforeTheFirstStep) {
  launch({.workers = 2, .evaluator_backend = "cuda"});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("evaluator: "),
                                             HasSubstr("actor.backend = \"cuda\": "),
                                             HasSubstr("libsterna_cuda.so is not there")));
}

}  // namespace
}  // namespace sterna::actors
