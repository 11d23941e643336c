// Which host each actor runs on, and which of its GPUs it gets: a pure function of the hosts and
// of what the [[actor]] tables ask for. The same hosts in the same order give the same placement.
//
// Names and ranks follow the order of the file alone, so what is trained does not depend on where.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

/// Why an actor found no place.
struct PlacementProblem {
  std::size_t table = 0;  ///< the index of its [[actor]]
  std::string_view key;   ///< the key of that table that asks for too much; empty: the whole table
  std::string message;    ///< names the actor, what it asks for and what there is
};

struct Placement {
  std::vector<ActorPlan>
      actors;  ///< in the order of the tables; without a host where there is none
  std::vector<PlacementProblem> problems;
};

/// The actors of `tables` without hosts: names, ranks, arguments.
std::vector<ActorPlan> expand(std::span<const ActorSection> tables);

/// Places every actor of `tables`, none on a spare host.
///
/// Actors that ask for no resources come first, on the hosts that their table names, or on all in
/// turn. Then, in the order of the file, those that ask: for hosts with all their labels and with
/// so many free cpus, GPUs and bytes of memory. "pack" takes the first of them, "spread" the one
/// that keeps the largest share of what is asked for free, then the one with the fewest actors,
/// then the first. Devices that a table names may be shared by the actors of tables that name
/// them; GPUs that are asked for by number are nobody else's.
Placement place(std::span<const HostSection> hosts, std::span<const ActorSection> tables);

/// Where else an actor of the file may be, should its host be lost: hosts that its table allows and
/// that have its labels and enough memory, those with enough free cpus first, then those with the
/// fewest actors; so many at most, and the spare ones. None for one that has devices.
std::vector<std::string> other_hosts(const ClusterFile& file, const ActorPlan& actor,
                                     std::size_t most = 8);

/// `file` on these hosts: for a file whose hosts are known only when it runs. The head becomes the
/// first of them where the file has none. Error invalid_argument with one line per actor without
/// a place.
Result<ClusterFile> place(ClusterFile file, std::vector<HostSection> hosts);

}  // namespace sterna::launcher
