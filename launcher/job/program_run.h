// A run of a program's own actors: what the screen and the result say of them, beside what they say
// of any run.
#pragma once

#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/log_reader.h"
#include "launcher/record/run_record.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

/// The actors, before any of them has started.
void expect_actors(RunRecord& record, const ClusterFile& file);
/// One of them has ended; `stopping`: after all that still ran were asked to.
void note_end(RunRecord& record, const ProcessDown& down, bool stopping);
/// Where their logs are.
std::vector<LogReader::Log> logs_of(const ClusterFile& file, const Cluster& cluster);

}  // namespace sterna::launcher
