// What a folder holds, by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// The names in `dir` of what is of this type (`regular`, `directory`; links are followed), sorted
/// by their bytes, so that the order is the same on every file system. A link that leads nowhere is
/// of the type `not_found`; one that cannot be followed (a circle, no permission, a disk's error)
/// is an error, as it may be of any type. Errors: not_found, permission, io.
Result<std::vector<std::string>> names_in(const std::filesystem::path& dir,
                                          std::filesystem::file_type type);

/// The same without hidden names: those that begin with ".".
Result<std::vector<std::string>> visible_names_in(const std::filesystem::path& dir,
                                                  std::filesystem::file_type type);

/// `name` with A to Z as a to z.
std::string in_small_letters(std::string name);

}  // namespace sterna::input
