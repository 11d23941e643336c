// A run that Slurm keeps, seen from outside its allocation: submitted, asked after, cancelled.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/commands/commands.h"
#include "launcher/hosts/slurm_commands.h"
#include "launcher/past/run_state.h"

namespace sterna::launcher {

/// sterna up FILE with placer = "slurm": writes the batch script, submits it, remembers the job.
int submit_to_slurm(RealMachine& machine, const RunOptions& options, const ClusterFile& file);

/// `state` with Slurm's word of how its job ended, if it has and nobody else left word.
RunState with_slurms_end(RealMachine& machine, const RunStates& states, RunState state);

/// "job 17 is running on n[1-3] since 1:02", as people read it.
std::string slurm_words(const RunState& state, const Result<SlurmJob>& job);

/// sterna status of a run whose coordinator cannot be asked from here.
int slurm_status(RealMachine& machine, const RunState& state, bool json);

/// Cancels the job and waits until Slurm has none of it any more; by force after Slurm's own grace.
/// Fails if it is still there then.
Result<void> end_slurm_job(RealMachine& machine, const std::string& job);

}  // namespace sterna::launcher
