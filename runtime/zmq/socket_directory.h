// Where a process's ipc sockets may lie: a directory that is ours alone, and whose path is short.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna {

/// What the names of all such directories begin with.
inline constexpr std::string_view kSocketDirectoryPrefix = "sterna-";

/// $TMPDIR, or /tmp where that leaves too little of a socket path's 107 bytes.
std::string socket_directory_base();

/// Makes a new one (0700) there, whose name is kSocketDirectoryPrefix, `label` and six letters.
Result<std::string> make_socket_directory(std::string_view label);

}  // namespace sterna
