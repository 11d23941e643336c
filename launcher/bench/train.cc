#include "launcher/bench/train.h"

#include <vector>

#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "launcher/bench/data.h"
#include "launcher/bench/job.h"
#include "launcher/job/job_plan.h"
#include "runtime/base/median.h"

namespace sterna::launcher {

namespace {

constexpr int kRounds = 5;
constexpr std::int64_t kSteps = 120;
constexpr std::int64_t kBatch = 64;

/// One server, one worker with one rank, one reader, no evaluations but the last one's.
ClusterFile bench_file(bool tcp, const kernels::Device* device) {
  ClusterFile file;
  file.cluster.name = "bench_train";
  file.cluster.head = "localhost";
  file.cluster.transport = tcp ? "tcp" : "ipc";
  file.hosts = {HostSection{"localhost", "127.0.0.1", "127.0.0.1"}};
  file.actors = {{"server0", Role::kParameterServer, "localhost", 0, 0},
                 {"worker0", Role::kWorker, "localhost", 1, 0},
                 {"reader0", Role::kInputReader, "localhost", 0, 0}};
  if (device != nullptr) compute_on(*device, file.actors);
  file.job.net = "lenet";
  file.job.steps = kSteps;
  file.job.batch = kBatch;
  return file;
}

/// The batches of all steps, as readers make them beside the steps.
Result<std::vector<input::PreparedBatch>> batches_of(const actors::JobConfig& job,
                                                     const BenchData& data) {
  std::vector<input::PreparedBatch> batches(job.steps, {data.how, kBatch});
  for (std::uint64_t step = 0; step < job.steps; ++step) {
    const auto rows =
        input::batch_rows({job.seed, step, 0, 1, job.batch}, data.train->facts().count);
    STERNA_TRY(input::prepare_training(*data.train, 0, rows, data.how, batches[step].rows()));
  }
  return batches;
}

struct ActorStep {
  double seconds = 0;
  double pushed_before_backward_ends = 0;
};

Result<ActorStep> actor_step(const Registry& registry, const ClusterFile& file,
                             const input::DataLocation& data) {
  STERNA_ASSIGN(const RunRecord record, run_bench_job(registry, file, data));
  ActorStep step;
  step.seconds = record.median_step_seconds;
  const actors::Traffic& traffic = record.progress.begin()->second.traffic;
  step.pushed_before_backward_ends = static_cast<double>(traffic.bytes_before_backward_ended) /
                                     static_cast<double>(traffic.gradient_bytes);
  return step;
}

}  // namespace

Result<Figures> bench_train(const Registry& registry,
                            const std::shared_ptr<kernels::Device>& device,
                            const BenchProgress& progress) {
  STERNA_ASSIGN(const BenchData found, find_bench_data(progress));
  const input::DataLocation& location = found.location;
  const ClusterFile file = bench_file(false, device.get());
  STERNA_ASSIGN(const actors::JobConfig job, job_of(file, location));
  STERNA_ASSIGN(const std::vector<input::PreparedBatch> batches, batches_of(job, found));

  std::vector<double> local;
  std::vector<double> ipc;
  std::vector<double> curve;
  std::vector<double> over_local;
  std::vector<double> over_local_curve;
  std::vector<double> early;
  for (int round = 0; round < kRounds; ++round) {
    progress("round " + std::to_string(round + 1) + " of " + std::to_string(kRounds));
    STERNA_ASSIGN(const double alone, trainer_step(job, batches, device));
    STERNA_ASSIGN(const ActorStep over_ipc, actor_step(registry, file, location));
    STERNA_ASSIGN(const ActorStep over_curve,
                  actor_step(registry, bench_file(true, device.get()), location));
    local.push_back(alone);
    ipc.push_back(over_ipc.seconds);
    curve.push_back(over_curve.seconds);
    over_local.push_back(over_ipc.seconds / alone);
    over_local_curve.push_back(over_curve.seconds / alone);
    early.push_back(over_ipc.pushed_before_backward_ends);
  }
  Figures figures;
  figures["local_step_seconds"] = median(local);
  figures["ps_step_seconds"] = median(ipc);
  figures["ps_step_seconds_tcp_curve"] = median(curve);
  figures["ps_over_local"] = median(over_local);
  figures["ps_over_local_tcp_curve"] = median(over_local_curve);
  figures["pushed_before_backward_ends"] = median(early);
  return figures;
}

}  // namespace sterna::launcher
