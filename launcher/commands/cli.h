// The command line: parses it and calls one command.
#pragma once

#include "launcher/text/console.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// Runs `sterna` with these arguments and returns the exit code. Never throws. Help and version are
/// results; an unknown command or option is one line beside them and exit code 2.
int command_line(int argc, const char* const* argv, const Registry& registry,
                 const Console& console = {});

}  // namespace sterna::launcher
