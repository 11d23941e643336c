// Real jobs on this machine whose steps are measured.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "actors/job/job.h"
#include "input/batches/prepare.h"
#include "input/place/data_source.h"
#include "kernels/device/device.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/record/run_record.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// Each worker is to compute on `device`: that of its number among those that the driver shows.
void compute_on(const kernels::Device& device, std::vector<ActorPlan>& actors);

/// What a job of real processes has said once it has ended well. Errors: remote, its cause and
/// where its logs are.
Result<RunRecord> run_bench_job(const Registry& registry, const ClusterFile& file,
                                const input::DataLocation& data);

/// The median step of the same job without actors, in seconds, of these batches in turn. On a
/// device (null: the CPU) a step waits for what the one before has left to do. Errors:
/// LocalTrainer's.
Result<double> trainer_step(const actors::JobConfig& job,
                            std::span<const input::PreparedBatch> batches,
                            const std::shared_ptr<kernels::Device>& device);

}  // namespace sterna::launcher
