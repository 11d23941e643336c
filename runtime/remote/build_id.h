// Which build a program is.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/base/result.h"

namespace sterna {

/// The linker's build id (ELF note NT_GNU_BUILD_ID) of a program, in hex: the same exactly for the
/// same bytes, and kept when they are stripped. "unknown" where the linker wrote none.
Result<std::string> build_id_of(const std::filesystem::path& program);

/// The build id of the running program; "unknown" where it has none.
std::string own_build_id();

}  // namespace sterna
