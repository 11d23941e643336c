// Names that others wrote into records, as names of files and folders.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace sterna::input {

/// The last part of `name`, between slashes either way, as one name that leads nowhere else: at
/// most 200 bytes; control characters, what some file systems refuse (<>:"|?*) and a dot at the
/// beginning become '_'. Empty where nothing is left.
std::string safe_file_name(std::string_view name);

/// `stem` + `ending`, with "-SUFFIX" behind the stem where `taken` has that already; then taken.
std::string free_name(std::set<std::string>& taken, std::string_view stem, std::string_view ending,
                      std::string_view suffix);

}  // namespace sterna::input
