// From the cluster file's hosts to how the runtime reaches them: which are this machine, by which
// command the others are reached, which addresses and folders their processes use.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/cluster/cluster.h"
#include "runtime/remote/remote_placer.h"

namespace sterna::launcher {

/// Whether this host is another machine than the launching one (in an allocation: than the head).
bool is_remote(const ClusterFile& file, const HostSection& host);
bool has_remote_hosts(const ClusterFile& file);
/// The host of the coordinator, or null: this machine, which is none of the file's hosts.
const HostSection* head_of(const ClusterFile& file);
/// Whether the coordinator runs on another machine than this one.
bool head_is_remote(const ClusterFile& file);

/// The variables, "NAME=VALUE", that the file gives to the processes of a host.
std::vector<std::string> environment_of(const HostSection& host);

/// The folder of one run on a remote host.
std::string remote_folder(const HostSection& host, const std::string& run_id);

/// How the file wants its processes connected and watched. `folder` is the run's on the head,
/// `run_id` names its folders elsewhere. Asked on the head. Fails if this machine has no address
/// that the hosts could reach.
Result<ClusterOptions> cluster_options_of(const ClusterFile& file, const std::string& log_directory,
                                          const std::string& run_id);

/// How to start node agents on the hosts that are not this machine.
RemotePlacerOptions placer_options_of(const ClusterFile& file, RemoteBundle bundle,
                                      std::function<void(std::string_view)> progress);

}  // namespace sterna::launcher
