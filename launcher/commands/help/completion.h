// What shells know of sterna's command line, made from the commands themselves.
#pragma once

#include <string>
#include <vector>

#include "launcher/commands/command.h"

namespace sterna::launcher {

/// The shells that there is a script for.
inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

/// A script that `shell`, one of kShells, reads at its start.
std::string completion(const std::vector<Command>& commands, const std::string& shell);

/// The manual page, as roff with man's macros.
std::string man_page(const std::vector<Command>& commands);

}  // namespace sterna::launcher
