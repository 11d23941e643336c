// The command line: parses it and calls one command.
#pragma once

#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// Runs `sterna` with these arguments and returns the exit code. Never throws. Help and version go
/// to standard output; an unknown command or option is one line on standard error and exit code 2.
int command_line(int argc, const char* const* argv, const Registry& registry);

}  // namespace sterna::launcher
