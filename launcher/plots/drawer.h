// Draws plots by a module that is loaded for it: cairo stays out of the program that trains.
#pragma once

#include <string>

#include "launcher/plots/plot.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Where this program lies.
std::string program_folder();

/// The bytes of a picture; the module is looked for in `folder`. Errors: not_found (no module), io.
Result<std::string> picture_of(const Plot& plot, PictureForm form,
                               const std::string& folder = program_folder());

/// To `path`, which ends in ".svg" or ".png", or its numbers (curves_csv.h) in ".csv", whole or not
/// at all. Errors: as above, and
/// invalid_argument (another ending).
Result<void> draw(const Plot& plot, const std::string& path,
                  const std::string& folder = program_folder());

}  // namespace sterna::launcher
