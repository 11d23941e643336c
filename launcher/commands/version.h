// Which build this is.
#pragma once

#include <string>

namespace sterna::launcher {

/// Version, build id and the versions of the libraries, a line each.
std::string version_text();

}  // namespace sterna::launcher
