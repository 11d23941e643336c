// What a run left on other hosts, brought back into its directory: the actors' logs and traces, and
// the final weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/run/run_job.h"

namespace sterna::launcher {

/// While the nodes still run: the logs, and of a job that is `finished` its weights. Ends where it
/// is once `give_up` says so. What stays on its host: a line for each, with the folder and why.
std::vector<std::string> fetch_files(Cluster& cluster, const JobOptions& options, bool finished,
                                     const std::function<bool()>& give_up);

}  // namespace sterna::launcher
