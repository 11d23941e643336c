// A file in a second folder: a hard link to it, or a copy on another file system.
#pragma once

#include <filesystem>

#include "runtime/base/result.h"

namespace sterna::input {

/// `to` appears whole, with the content of `from`, and replaces what had its name. Nothing is
/// copied where a hard link can be made; who changes one of the two then changes both. A copy
/// outlives a power cut once its name is there. Errors: of
/// copying, in a line that names both.
Result<void> link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace sterna::input
