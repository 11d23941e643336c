// What is noted and said of connections between actors that were lost for a while.
#pragma once

#include <string>

#include "launcher/record/run_observer.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// The line that is worth saying of it; empty: none, as where a connection was back at once.
std::string note_link_trouble(RunRecord& record, const LinkTrouble& trouble);

}  // namespace sterna::launcher
