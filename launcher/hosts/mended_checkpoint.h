// What is damaged or gone of a checkpoint is taken from its copy on another machine
// (checkpoint.copies), before a run goes on from it.
#pragma once

#include <functional>
#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

/// Looks at every byte of the newest checkpoint in `folder` that has a manifest, or of the one that
/// `folder` is. `run`: only that run's count (actors::find_checkpoints()).
/// Each of its parts that is not as it was written is replaced by its copy, over the ssh of the
/// file's host that has it, once that is; a line says so, or why not: then it is as it was, and the
/// one before is looked at. `stop`: whether to wait no longer.
void mend_newest(
    RealMachine& machine, const ClusterFile& file, const std::string& folder,
    const std::string& run, const std::function<void(const std::string& line)>& say,
    const std::function<bool()>& stop = [] { return false; });

}  // namespace sterna::launcher
