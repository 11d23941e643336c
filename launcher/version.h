// Which build this is.
#pragma once

#include <string>

namespace sterna::launcher {

/// The linker's build id (ELF note NT_GNU_BUILD_ID) of the running program, in hex: the same for
/// two hosts exactly when they run the same bytes. "unknown" where the linker wrote none.
std::string build_id();

/// Version, build id and the versions of the libraries, a line each.
std::string version_text();

}  // namespace sterna::launcher
