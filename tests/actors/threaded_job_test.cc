// The same job on the real loop and real compute threads: what the thread sanitizer looks at.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "kernels/device/host_device.h"
#include "runtime/loop/thread_executor.h"
#include "runtime/loop/uv_loop.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

class ThreadedJob : public testing::Test {
 protected:
  ThreadedJob() {
    write_small_dataset(data_, 100, 20);
    job.net = "lenet";
    job.steps = 12;
    job.batch = 4;
    job.ranks = 4;
    job.optimizer.weight_decay = 0;
    job.gradient.min_size = 1;
    job.data.name = "mnist";
    job.data.dir = data_.string();
    job.evaluation = {.every = 4, .examples = 10, .batch = 10};
  }
  ~ThreadedJob() override { std::filesystem::remove_all(data_); }

  /// Of the job in one process with three compute threads; empty if it failed.
  std::string final_hash(decltype(JobLayout::device) device = nullptr) {
    JobLayout layout{.servers = 2, .readers = 2, .workers = 2, .ranks_per_worker = 2};
    if (job.exchanges_within()) layout = {.readers = 2, .workers = 1, .ranks_per_worker = 4};
    layout.devices = devices;
    layout.cores = cores;
    layout.device = std::move(device);
    job.averaged_ranks = job.gradient.host == HostRule::average ? layout.ranks_per_worker : 1;
    UvLoop loop;
    ThreadExecutor executor(loop, 3, "compute");
    SystemRandom random;
    std::vector<std::string> deaths;
    RecordingObserver::Record record;
    ProcessOptions options;
    options.link.self = {1};
    Process process(ProcessEnvironment{loop, random, executor, nullptr, [](std::string_view) {}},
                    options);
    process.set_on_death([&](LocalId, const std::string& cause) { deaths.push_back(cause); });
    const auto names = spawn_job(job, layout, "", record, nullptr,
                                 [&](const std::string&) -> Process& { return process; });
    EXPECT_TRUE(loop.run_until(
        [&] {
          return !deaths.empty() || (record.finished && record.done.size() == layout.workers);
        },
        loop.now() + std::chrono::minutes(2)));
    for (const std::string& death : deaths) ADD_FAILURE() << death;
    EXPECT_TRUE(record.finished);
    return record.finished ? record.finished->parameters_sha256 : "";
  }

  JobConfig job;
  std::uint32_t cores = 1;
  std::uint32_t devices = 1;

 private:
  std::filesystem::path data_ = std::filesystem::path(::testing::TempDir()) /
                                ("sterna-threaded-" + std::to_string(::getpid()));
};

TEST_F(ThreadedJob, ComputeThreadsDoNotChangeABit) {
  EXPECT_EQ(final_hash(), sequential_oracle(job));
}

TEST_F(ThreadedJob, NorWhereRanksAreAveragedOnTheThreadThatHasTheLast) {
  cores = 2;
  job.gradient.host = HostRule::average;
  job.gradient.error_feedback = true;
  const std::string hash = final_hash();
  cores = 1;
  EXPECT_EQ(final_hash(), hash);
}

TEST_F(ThreadedJob, NorWhereWorkersStepFromAverages) {
  job.gradient.scaler = ScalerRule::last_step;
  job.gradient.down = Down::average;
  job.gradient.check_every = 3;
  EXPECT_EQ(final_hash(), sequential_oracle(job));
}

// Here what comes is written beside the passes that are still on their way.
TEST_F(ThreadedJob, NorWhereRanksTakeTurnsOnDevices) {
  job.net = "mlp";
  job.hidden = {40, 20};
  for (const Down down : {Down::parameters, Down::average}) {
    job.gradient.scaler = ScalerRule::shared;
    job.gradient.down = down;
    const std::string expected =
        final_hash([](std::uint32_t) { return kernels::make_host_device({.late = false}); });
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      EXPECT_EQ(final_hash([seed](std::uint32_t worker) {
                  return kernels::make_host_device({.seed = 10 * seed + worker});
                }),
                expected);
    }
  }
}

// There the first rank's device has the sums, which threads of other ranks add to.
TEST_F(ThreadedJob, NorWhereRanksOnDevicesAreAveraged) {
  job.net = "mlp";
  job.hidden = {40, 20};
  job.gradient.host = HostRule::average;
  const std::string expected =
      final_hash([](std::uint32_t) { return kernels::make_host_device({.late = false}); });
  devices = 2;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    EXPECT_EQ(
        final_hash([seed](std::uint32_t) { return kernels::make_host_device({.seed = seed}); }),
        expected);
  }
}

TEST_F(ThreadedJob, NorWhereOneWorkerDoesWithoutServers) {
  job.gradient.exchange = ExchangeRule::nccl;
  cores = 2;
  EXPECT_EQ(final_hash(), sequential_oracle(job));
}

TEST_F(ThreadedJob, NorWhereDevicesExchangeAmongThemselves) {
  job.net = "mlp";
  job.hidden = {40, 20};
  job.gradient.scaler = ScalerRule::shared;
  const std::string expected =
      final_hash([](std::uint32_t) { return kernels::make_host_device({.late = false}); });
  job.gradient.exchange = ExchangeRule::nccl;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    devices = 1 + seed % 3;
    EXPECT_EQ(
        final_hash([seed](std::uint32_t) { return kernels::make_host_device({.seed = seed}); }),
        expected);
  }
}

}  // namespace
}  // namespace sterna::actors
