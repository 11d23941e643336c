// What is noted and said of connections between actors that were lost for a while, or are slow.
#pragma once

#include <string>

#include "launcher/record/run_record.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// The line that is worth saying of it; empty: none, as where a connection was back at once.
std::string note_link_trouble(RunRecord& record, const LinkTrouble& trouble);
/// Of a link that is slower than `limit` (bytes a second), or is no more.
std::string note_link_pace(RunRecord& record, const LinkPace& pace, std::uint64_t limit);

}  // namespace sterna::launcher
