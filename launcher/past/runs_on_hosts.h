// The runs that hosts have processes of, told by those processes alone: for who ends one of which
// nothing is remembered here. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "launcher/past/leftovers.h"

namespace sterna::launcher {

struct RunOnHosts {
  std::string run;              ///< in hex
  std::string id;               ///< its directory's name; empty: not known
  std::string name;             ///< cluster.name; empty: not known
  std::set<std::string> hosts;  ///< that have a node of it by their name
};

/// Those that have a node on one of the hosts, by `run`. What `remembered` says of one counts more
/// than its processes.
std::vector<RunOnHosts> runs_on_hosts(const std::vector<HostProcess>& processes,
                                      const std::vector<RunState>& remembered);

/// The one that `word` names in full. Else not_found, or of several invalid_argument, and the
/// message lists them.
Result<RunOnHosts> find_on_hosts(const std::vector<RunOnHosts>& runs, const std::string& word);

/// "0123456789abcdef (mnist-20260101T000000Z, on a b), ..."
std::string listed(const std::vector<RunOnHosts>& runs);

}  // namespace sterna::launcher
