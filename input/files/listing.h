// What a folder holds, by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// The names in `dir` of what is of this type (`regular`, `directory`; links are followed), sorted
/// by their bytes, so that the order is the same on every file system. Errors: not_found,
/// permission, io.
Result<std::vector<std::string>> names_in(const std::filesystem::path& dir,
                                          std::filesystem::file_type type);

}  // namespace sterna::input
