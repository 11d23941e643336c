#include "launcher/bench/ranks.h"

#include <array>
#include <optional>
#include <thread>
#include <vector>

#include "actors/reader/data_folder.h"
#include "actors/reader/preparation.h"
#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "input/place/data_set.h"
#include "launcher/bench/job.h"
#include "launcher/job/job_plan.h"
#include "runtime/base/median.h"

namespace sterna::launcher {
namespace {

constexpr std::int64_t kRanks = 2;
constexpr std::int64_t kStepsOfARound = 150;

ClusterFile file_of(const RanksBenchSetup& setup) {
  ClusterFile file;
  file.cluster.name = "bench_train";
  file.cluster.head = "localhost";
  file.cluster.transport = "ipc";
  file.hosts = {HostSection{"localhost", "127.0.0.1", "127.0.0.1"}};
  file.actors = {{"server0", Role::kParameterServer, "localhost", 0, 0},
                 {"worker0", Role::kWorker, "localhost", 1, 0},
                 {"worker1", Role::kWorker, "localhost", 1, 1},
                 {"reader0", Role::kInputReader, "localhost", 0, 0}};
  if (setup.device != nullptr) compute_on(*setup.device, file.actors);
  file.job.net = setup.net;
  file.job.steps = kStepsOfARound;
  file.job.batch = setup.batch;
  file.data.name = "synthetic";
  file.data.preprocess = "cifar";
  file.data.classes = 10;
  return file;
}

/// A trainer's median step in seconds, while others train beside it.
Result<double> alone(const actors::JobConfig& job, const std::shared_ptr<kernels::Device>& device) {
  STERNA_ASSIGN(const auto source, input::open_data("", input::Split::train,
                                                    actors::data_options(job.data, job.seed)));
  STERNA_ASSIGN(const input::Preparation how,
                actors::preparation_of(job, source->facts(), source->facts().count));
  // Noise: the same batch does for every step.
  input::PreparedBatch batch(how, job.batch);
  const auto rows =
      input::batch_rows({.seed = job.seed, .batch = job.batch}, source->facts().count);
  STERNA_TRY(input::prepare_training(*source, 0, rows, how, batch.rows()));
  return trainer_step(job, {&batch, 1}, device);
}

/// The slowest of as many trainers as there are ranks, side by side.
Result<double> side_by_side(const actors::JobConfig& job,
                            const std::shared_ptr<kernels::Device>& device) {
  std::array<std::optional<Result<double>>, kRanks> steps;
  {
    std::vector<std::jthread> trainers;
    trainers.reserve(steps.size());
    for (auto& step : steps)
      trainers.emplace_back([&, &step = step] { step = alone(job, device); });
  }
  double slowest = 0;
  for (auto& step : steps) {
    STERNA_ASSIGN(const double seconds, std::move(*step));
    slowest = std::max(slowest, seconds);
  }
  return slowest;
}

}  // namespace

Result<Figures> bench_ranks(const Registry& registry, const RanksBenchSetup& setup,
                            const BenchProgress& progress) {
  const ClusterFile file = file_of(setup);
  const input::DataLocation data{{}, file.data.name};
  STERNA_ASSIGN(const actors::JobConfig job, job_of(file, data));
  std::vector<double> alone_steps;
  std::vector<double> rank_steps;
  std::vector<double> ratios;
  for (int round = 0; round < setup.rounds; ++round) {
    progress("round " + std::to_string(round + 1) + " of " + std::to_string(setup.rounds));
    STERNA_ASSIGN(const double by_itself, side_by_side(job, setup.device));
    STERNA_ASSIGN(const RunRecord record, run_bench_job(registry, file, data));
    const double in_a_job = record.median_step_seconds;
    alone_steps.push_back(by_itself);
    rank_steps.push_back(in_a_job);
    ratios.push_back(by_itself / in_a_job);
  }
  Figures figures;
  figures["alone_step_seconds"] = median(alone_steps);
  figures["rank_step_seconds"] = median(rank_steps);
  figures["alone_over_rank_step"] = median(ratios);
  return figures;
}

}  // namespace sterna::launcher
