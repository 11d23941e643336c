// slots_begin: from which step on the slots have gone along with a job's steps that a checkpoint
// keeps. That is 0, unless the job went on from a checkpoint of another optimizer.
#pragma once

#include <cstdint>

#include "actors/checkpoint/checkpoint_writer.h"
#include "actors/job/job.h"
#include "actors/parameters/parameter_table.h"
#include "runtime/actor/task.h"

namespace sterna::actors {

/// Of the servers' optimizer, in the checkpoint that the job goes on from: as is noted there, 0
/// where nothing is, and the job's first step where no tensor has slots. Errors: as read_state().
Task<Result<std::uint64_t>> read_slots_begin(CheckpointWriter& checkpoints,
                                             const ParameterTable& table, const JobConfig& job);

}  // namespace sterna::actors
