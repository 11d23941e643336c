// What a run left on other hosts, brought back into its directory: the final weights, and the
// actors' logs and traces.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/run_job.h"

namespace sterna::launcher {

/// What of a cluster is asked for its nodes' files.
struct NodeFiles {
  std::function<std::optional<ProcessId>(const std::string& name)> process_of;
  std::function<std::string(const std::string& actor)> host_of;
  std::function<Result<FilePiece>(const ReadFile& question)> read;
};
/// `cluster` must outlive it.
NodeFiles node_files_of(Cluster& cluster);

struct FilesBack {
  std::vector<std::string> left;  ///< what stays on its host: a line for each, with folder and why
  /// Why the final weights of a job that is done are not here, and where they lie; else empty.
  std::string weights_left;
};

/// While the nodes still run: of a job that is `finished` its weights, then the logs. Ends where it
/// is once `give_up` says so. A log that a host does not have, as one that was joined by hand has
/// none of its node, is none that stays there. Where this disk is full no further log is tried.
FilesBack fetch_files(const NodeFiles& nodes, const JobOptions& options, bool finished,
                      const std::function<bool()>& give_up);

}  // namespace sterna::launcher
