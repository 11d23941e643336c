// The parts of `sterna data` that have a file of their own.
#pragma once

#include "launcher/commands/command.h"

namespace sterna::launcher {

Command data_build_command();
Command data_convert_command();
Command data_show_command();

}  // namespace sterna::launcher
