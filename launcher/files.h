// Whole files, read and written, with every system error as one line.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// The content of the regular file `path`, at most 16 MiB.
Result<std::string> read_file(const std::string& path);

/// Writes `content` to `path`, replacing it; a full disk shows here, not later.
Result<void> write_file(const std::string& path, std::string_view content);

/// Like write_file(), but readers see the old file or the new one, never a part.
Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace sterna::launcher
