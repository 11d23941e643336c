// The same job on the real loop and real compute threads: what the thread sanitizer looks at.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/loop/thread_executor.h"
#include "runtime/loop/uv_loop.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

JobConfig small_job() {
  JobConfig job;
  job.net = "lenet";
  job.steps = 12;
  job.batch = 4;
  job.ranks = 4;
  job.optimizer.weight_decay = 0;
  job.gradient.min_size = 1;
  job.data.name = "mnist";
  job.evaluation = {.every = 4, .examples = 10, .batch = 10};
  return job;
}

void expect_the_bits_of_the_plain_loop(JobConfig job) {
  const auto data = std::filesystem::path(::testing::TempDir()) /
                    ("sterna-threaded-" + std::to_string(::getpid()));
  write_small_dataset(data, 100, 20);
  job.data.dir = data.string();

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
  const auto names =
      spawn_job(job, {.servers = 2, .readers = 2, .workers = 2, .ranks_per_worker = 2}, "", record,
                nullptr, [&](const std::string&) -> Process& { return process; });
  EXPECT_TRUE(loop.run_until(
      [&] { return !deaths.empty() || (record.finished && record.done.size() == 2); },
      loop.now() + std::chrono::minutes(2)));
  for (const std::string& death : deaths) ADD_FAILURE() << death;
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, sequential_oracle(job));
  std::filesystem::remove_all(data);
}

TEST(ThreadedJob, ComputeThreadsDoNotChangeABit) { expect_the_bits_of_the_plain_loop(small_job()); }

TEST(ThreadedJob, NorWhereWorkersStepFromAverages) {
  JobConfig job = small_job();
  job.gradient.scaler = ScalerRule::last_step;
  job.gradient.down = Down::average;
  job.gradient.check_every = 3;
  expect_the_bits_of_the_plain_loop(job);
}

}  // namespace
}  // namespace sterna::actors
