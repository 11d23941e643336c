// The batch script that `sterna up` submits where no allocation is: what it asks of Slurm follows
// from what the actors ask for, and the cluster file lies in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

/// For each of `nodes` nodes.
struct SlurmRequest {
  std::int64_t nodes = 1;
  std::int64_t cpus = 1;
  std::int64_t gpus = 0;
  std::uint64_t megabytes = 0;  ///< 2²⁰ bytes each; 0: what Slurm gives unasked
};

/// The least with which all actors find a place on cluster.nodes equal nodes. Error
/// invalid_argument where nothing helps, with one line per actor.
Result<SlurmRequest> slurm_request(const ClusterFile& file);

struct SlurmScript {
  std::string folder;  ///< absolute: where the script runs
  /// Where the program may be, best first; "~/" is the home there.
  std::vector<std::string> programs;
  std::string data;           ///< --data; empty: not given
  std::string run_directory;  ///< absolute; made by the run itself
  std::uint64_t again = 0;    ///< so often the job goes back into the queue
};

/// The file that a job's words go to: beside the run's directory, which is not there yet.
std::string output_beside(const std::string& run_directory);

std::string slurm_script(const ClusterFile& file, const SlurmRequest& request,
                         const SlurmScript& script);

}  // namespace sterna::launcher
