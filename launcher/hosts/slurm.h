// What Slurm says, as plain values: of the allocation that this process is in, of its nodes, of a
// job; and the command that puts a node agent on one of the nodes.
//
// All of it is text in and values out; launcher/hosts/slurm_commands.h asks Slurm.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

/// Of what Slurm sets for a batch script, what counts here.
struct SlurmAllocation {
  std::string job;
  std::string nodes;      ///< as Slurm folds them: "n[1-3],gpu7"
  std::string this_node;  ///< empty: this machine is none of them (salloc on a login node)
  std::string cpus;       ///< per node, folded: "4(x2),3"
  std::int64_t gpus = 0;  ///< on each node
  /// For the job's actors, on each node; 0: Slurm does not count it.
  std::uint64_t memory = 0;
};

/// Nothing outside an allocation. `environment` looks a variable up.
std::optional<SlurmAllocation> slurm_allocation(
    const std::function<std::optional<std::string>(const char*)>& environment);

/// "4(x2),3" of three nodes: {4, 4, 3}. Malformed if it is anything else than so many numbers.
Result<std::vector<std::int64_t>> unfold_counts(std::string_view text, std::size_t nodes);

struct SlurmNode {
  std::string name;
  std::string address;  ///< as Slurm's administrator wrote it: a name or an address
  std::vector<std::string> features;
};
/// Of `scontrol show node --oneliner`; lines that are none are left out.
std::vector<SlurmNode> parse_slurm_nodes(std::string_view text);

/// The allocation's nodes as hosts, in the order of `names`, their features as labels. Their
/// addresses are still Slurm's words.
Result<std::vector<HostSection>> slurm_hosts(const SlurmAllocation& allocation,
                                             const std::vector<std::string>& names,
                                             const std::vector<SlurmNode>& nodes);

/// Runs what follows on that node of the allocation this process is in, with all that the
/// allocation has there, beside whatever runs there already.
std::vector<std::string> srun_command(const std::string& node);

}  // namespace sterna::launcher
