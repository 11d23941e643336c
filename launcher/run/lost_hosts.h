// What becomes of a file some of whose hosts are lost, before its job is started again.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

/// Of `lost`, those that no shell answers on within a few seconds. A host that no ssh reaches from
/// here counts as one; this machine and the head, which is where the run is kept, do not. `stop`:
/// whether to wait no longer.
std::vector<std::string> hosts_without_answer(RealMachine& machine, const ClusterFile& file,
                                              const std::vector<std::string>& lost,
                                              const std::function<bool()>& stop);

/// `file` with the hosts `gone` as spare ones, its actors on those that are left: as if it had
/// never had them, but where their cpus do not suffice that is no hindrance. Error invalid_argument
/// where an actor finds no place, with one line each.
Result<ClusterFile> without_hosts(const ClusterFile& file, const std::vector<std::string>& gone);

/// `file` with these hosts as any others, its actors where they were.
ClusterFile with_added(ClusterFile file, const std::vector<std::string>& added);

}  // namespace sterna::launcher
