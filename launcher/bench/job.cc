#include "launcher/bench/job.h"

#include <utility>
#include <vector>

#include "actors/local_trainer.h"
#include "launcher/bench/logs.h"
#include "launcher/job/run_job.h"
#include "runtime/base/clock.h"
#include "runtime/base/median.h"

namespace sterna::launcher {

void compute_on(const kernels::Device& device, std::vector<ActorPlan>& actors) {
  for (ActorPlan& actor : actors) {
    if (actor.role != Role::kWorker) continue;
    actor.backend = "cuda";
    actor.devices = {device.facts().index};
  }
}

Result<RunRecord> run_bench_job(const Registry& registry, const ClusterFile& file,
                                const input::DataLocation& data) {
  JobOptions options;
  options.file = file;
  options.data = data;
  options.began = SteadyClock().now();
  STERNA_ASSIGN(const BenchLogs logs, BenchLogs::create());
  options.log_directory = logs.path();
  RealMachine machine;
  JobListener nobody;
  JobOutcome outcome = run_job(machine, registry, options, nobody);
  if (outcome.record.result.exit != 0) {
    return logs.explain({Errc::remote, outcome.record.result.cause});
  }
  logs.discard();
  return std::move(outcome.record);
}

Result<double> trainer_step(const actors::JobConfig& job,
                            std::span<const input::PreparedBatch> batches,
                            const std::shared_ptr<kernels::Device>& device) {
  STERNA_ASSIGN(actors::LocalTrainer trainer, actors::LocalTrainer::make(job, device));
  std::vector<double> times;
  const SteadyClock clock;
  for (std::uint64_t step = 0; step < job.steps; ++step) {
    const input::PreparedBatch& batch = batches[step % batches.size()];
    const Time begin = clock.now();
    STERNA_TRY(trainer.step(step, {batch.pixels, batch.levels}, batch.labels));
    times.push_back(in_seconds(clock.now() - begin));
  }
  return median(times);
}

}  // namespace sterna::launcher
