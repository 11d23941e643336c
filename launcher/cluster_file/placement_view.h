// What each host of a cluster file has to carry, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {

/// One host's part of a run.
struct HostUse {
  HostSection host;
  bool head = false;
  std::int64_t processes = 0;  ///< actors, node agent, and on the head two of the run's own
  std::int64_t ports = 0;      ///< tcp ports that they bind
  double cpus = 0;             ///< asked for, as are the next two
  std::int64_t gpus = 0;       ///< different ones
  std::uint64_t memory = 0;
  std::vector<ActorPlan> actors;
};

/// In the order of the hosts; for a file that is placed.
std::vector<HostUse> host_uses(const ClusterFile& file);

/// "1 parameter server, 2 workers with 2 ranks, …; 200 steps of lenet"; of a program's own types
/// "3 actors of ./program: 2 counter, 1 echo".
std::string summary(const ClusterFile& file);
/// The placement as lines of text; where it is not known yet, a line that says when it will be.
std::vector<std::string> placement_lines(const ClusterFile& file);
/// The same as a line of JSON.
std::string placement_json(const ClusterFile& file);

}  // namespace sterna::launcher
