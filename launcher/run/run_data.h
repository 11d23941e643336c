// Where the machine that a run is started on finds the data of a job.
#pragma once

#include <string>

#include "input/place/data_source.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// The job's data: in the folder of --data (`flag`, which may be empty), else where the file says;
/// digits are drawn where there is none, with a line that says so. What is wrong with the files is
/// said now, in a line, and not by an actor of a run.
Result<input::DataLocation> find_run_data(const std::string& flag, const ClusterFile& file,
                                          const Console& console);

/// What of data.classes a run would refuse, in the same line, where the file names no folder: of
/// the data that it would find, or of the digits that it would draw; nothing is drawn. Nothing for
/// a file that does not say how many classes there are.
Result<void> check_classes_unseen(const ClusterFile& file);

/// invalid_argument for a --data that nobody would look into: it is for the machine that the run is
/// started on, and for its head.
Result<void> check_data_flag(const std::string& flag, const ClusterFile& file);

/// Whether an actor on this machine reads the data, or its number of examples is needed.
bool needs_data_here(const ClusterFile& file);

/// Whether the file itself says in which folder that is.
bool names_data_here(const ClusterFile& file);

/// Where it is not: hosts that look for "any" data by themselves might find different ones.
input::DataLocation data_elsewhere(const ClusterFile& file);

}  // namespace sterna::launcher
