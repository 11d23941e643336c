// Before a job's actors start, stand-ins of its workers and servers (launcher/probe/prober.h)
// exchange bytes and pack gradients on their hosts, under the run's security: what gradient.codec =
// "auto" chooses from.
#pragma once

#include <set>
#include <string>

#include "actors/job/job.h"
#include "launcher/probe/codec_choice.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

/// Takes a second or two, and on slow links the time of a few round trips of 512 KB for each
/// worker. All of them are as busy at once as the job's exchange will make them; of many workers or
/// servers some stand for all. `ended` has the names of the run's actors that have ended, kept up
/// to date by who watches the cluster: when this returns, the stand-ins are gone.
Result<ExchangeCosts> probe_exchange(Cluster& cluster, const ClusterFile& file,
                                     const actors::JobConfig& job,
                                     const std::set<std::string>& ended);

}  // namespace sterna::launcher
