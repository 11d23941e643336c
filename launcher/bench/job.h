// Real jobs on this machine whose steps are measured.
#pragma once

#include <vector>

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

}  // namespace sterna::launcher
