// A run's metrics.jsonl, read back.
#pragma once

#include <functional>
#include <string>

#include "launcher/text/json_line.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Calls `visit` with each line of the run's directory, the first (kind "run") included, until it
/// fails. A last line that is no whole one, as a kill leaves it, is passed over. Errors: not_found,
/// malformed (no regular file, no line of metrics, one above 1 MiB, or another format), and what
/// `visit` says; all name the file.
Result<void> for_each_metric(const std::string& run,
                             const std::function<Result<void>(const Json& line)>& visit);

/// Of a line of kind "tensor" what TensorMetrics has, as json_kept() has it.
Json kept_tensor(const Json& line);

}  // namespace sterna::launcher
