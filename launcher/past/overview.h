// What a visitor sees of a run, as one status: the launcher's report with the coordinator's own
// knowledge of the processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/past/run_state.h"
#include "launcher/view/run_status.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// What the launcher last reported, with the coordinator's knowledge of each actor's process; of a
/// run that reports nothing yet, that it is starting.
RunStatus status_of(const RunState& state, const Overview& overview);
/// Whether the host is one of the run's, and its node is there.
bool has_host(const Overview& overview, const std::string& host);
/// "; its hosts are a, b", of a name that is none of them; else "".
std::string other_hosts(const RunState& state, const std::string& host);
/// The whole as one line of JSON: the run, its hosts, its members, its status, and what was refused
/// where that was asked for.
std::string overview_json(const RunState& state, const Overview& overview,
                          const std::optional<Inspection>& counted = std::nullopt);
/// The members as a table for people, a line each.
/// Columns that have no room in `width` are left out, the least wanted first.
std::vector<std::string> member_table(const Overview& overview, std::size_t width);

/// What processes of a run have counted, of all of them together.
Inspection sum_of(const std::vector<Inspection>& counted);
/// The refused connections by kind as a line for people; empty where there are none.
std::string refusals_line(const Inspection& counted);

}  // namespace sterna::launcher
