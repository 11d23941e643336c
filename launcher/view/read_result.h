// A run's result.json, read back: whoever gave the run may have written it.
#pragma once

#include <string>

#include "launcher/text/json_line.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// The object in the directory's result.json, as parse_shallow() has it; so it may be written, and
/// copied. Its texts may be as long as the file, and its numbers any (json_kept_text(),
/// whole_number()). Errors name the file: not_found, permission, invalid_argument (larger than
/// kMostResultBytes), malformed (no JSON object), io.
Result<Json> read_result(const std::string& run_dir);

}  // namespace sterna::launcher
