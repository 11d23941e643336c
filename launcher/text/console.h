// What a command says at its end: its result, its complaints and its exit code.
#pragma once

#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

constexpr int exit_done = 0;
constexpr int exit_failed = 1;
constexpr int exit_bad_input = 2;
constexpr int exit_interrupted = 130;  ///< by Ctrl-C or SIGTERM

/// One line on standard error. That it cannot be written there changes nothing.
void say(std::string_view line);
/// What was asked for, on standard output. False, after saying so, if it cannot be written there.
bool print_result(std::string_view lines);
/// Prints the error on standard error, as it is, and gives the exit code of its kind: 2 where the
/// input is at fault (invalid_argument, not_found, already_exists, permission, malformed), else 1.
int report(const Error& error);

}  // namespace sterna::launcher
