// What a run begins with: its data, its file with all that is known then, and the checkpoint that
// it goes on from. All that may be wrong with what the user gave is found here, before anything is
// made or started.
#pragma once

#include <chrono>
#include <memory>

#include "actors/checkpoint/saved.h"
#include "input/place/data_source.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/record/run_directory.h"
#include "launcher/run/whole_run.h"
#include "runtime/base/result.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

struct RunBeginning {
  input::DataLocation data;
  ClusterFile file;  ///< in steps, and with where its weights are
  std::shared_ptr<const actors::SavedCheckpoint> from;  ///< null: it begins at step 0
  std::int64_t first_step() const;
};

/// Errors: one line each, with what to do.
Result<RunBeginning> look_at_beginning(RealMachine& machine, const WholeRunOptions& options);

/// Where the run of this file has its directory, by a name of that time if by none of its own.
RunDirectoryOptions directory_for(const WholeRunOptions& options, const ClusterFile& file,
                                  std::chrono::system_clock::time_point now = {});

}  // namespace sterna::launcher
