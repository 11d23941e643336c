// Asking Slurm, with the commands that every user has: scontrol, squeue, sbatch, scancel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

/// What a command says on its standard output, whose last line end is left out. Fails with the last
/// line of its standard error: not found, an exit code, no end within a deadline.
Result<std::string> output_of(RealMachine& machine, const std::vector<std::string>& command);

/// `file` with the hosts of the Slurm allocation that this process is in, and its actors on them;
/// the head is this node. Outside an allocation invalid_argument, which says what to do.
Result<ClusterFile> on_allocation(RealMachine& machine, ClusterFile file);

/// A job as squeue shows it.
struct SlurmJob {
  std::string state;    ///< "PENDING", "RUNNING", …; empty: Slurm has forgotten it
  std::string reason;   ///< why it waits
  std::string elapsed;  ///< "1:02"
  std::string nodes;    ///< folded
  /// Nothing of it runs any more.
  bool over() const;
};
/// "job 17 is running on n[1-3] since 1:02".
std::string slurm_words(const std::string& id, const SlurmJob& job);
/// Fails where Slurm does not answer.
Result<SlurmJob> slurm_job(RealMachine& machine, const std::string& job);

}  // namespace sterna::launcher
