// A run's status as JSON: what those who look at a run are told, and what `sterna status --json`
// prints.
#pragma once

#include <string>
#include <string_view>

#include "launcher/view/run_status.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

std::string status_json(const RunStatus& status);
/// Fails (malformed) on anything that status_json() did not write.
Result<RunStatus> parse_status(std::string_view json);

}  // namespace sterna::launcher
