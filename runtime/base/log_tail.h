// The last lines of a log, for the message about the death of the process that wrote it.
#pragma once

#include <string>
#include <vector>

namespace sterna {

/// At most `lines` non-empty lines, oldest first, long ones cut, without the calls that a crash was
/// in; empty if there is no such file.
std::vector<std::string> log_tail(const std::string& path, std::size_t lines);

}  // namespace sterna
