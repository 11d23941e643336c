// What lies among the pictures of a data set and is none of them, for people to know of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "runtime/base/result.h"

namespace sterna::input {

/// Hidden names are not counted.
struct PassedOver {
  std::uint64_t files = 0;             ///< in class folders, of other formats
  std::set<std::string> endings = {};  ///< theirs, in small letters; "": of files without one
  std::uint64_t subfolders = 0;        ///< of class folders
  std::uint64_t loose = 0;             ///< files beside the class folders, other than labels.txt
};

/// In the splits of `dir` (split_folder), or where it has none in `dir` itself. Errors: names_in's.
Result<PassedOver> passed_over(const std::filesystem::path& dir);

/// "3 files of other formats (.gif, .heic), 1 subfolder, 2 loose files", or "".
std::string to_text(const PassedOver& passed);

}  // namespace sterna::input
