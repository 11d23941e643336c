// Draws plots by a module that is loaded for it: cairo stays out of the program that trains.
#pragma once

#include <string>

#include "launcher/plots/plot.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Where this program lies.
std::string program_folder();

/// To `path`, which ends in ".svg" or ".png", whole or not at all; the module is looked for in
/// `folder`. Errors: invalid_argument (another ending), not_found (no module), io.
Result<void> draw(const Plot& plot, const std::string& path,
                  const std::string& folder = program_folder());

}  // namespace sterna::launcher
