// What a run left on other hosts, brought back into its directory: the actors' logs and the final
// weights.
#pragma once

#include "launcher/run/run_job.h"

namespace sterna::launcher {

/// While the nodes still run. What cannot be brought back is said in a line of `status`'s log.
void fetch_files(Cluster& cluster, const JobOptions& options, RunStatus& status);

}  // namespace sterna::launcher
