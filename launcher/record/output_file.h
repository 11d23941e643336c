// Files that commands write where their user says.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// Whether a command may write what ends in `ending` (".csv") to `path`, as far as what is there is
/// concerned: already_exists where a file is that is called otherwise, so that the command never
/// wrote it, or that a run or a checkpoint left beside its others. `who` is the option that names
/// it. Another file of that ending is replaced.
Result<void> check_output(const std::string& path, std::string_view ending, std::string_view who);

}  // namespace sterna::launcher
