#include "input/files/listing.h"

#include <algorithm>
#include <system_error>

namespace sterna::input {

namespace fs = std::filesystem;

Result<std::vector<std::string>> names_in(const fs::path& dir, fs::file_type type) {
  std::error_code failed;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(dir, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code ignored;
    if (entry->status(ignored).type() == type) names.push_back(entry->path().filename().string());
  }
  if (failed) {
    Error error = system_error("cannot list the folder " + dir.string(), failed.value());
    if (failed == std::errc::no_such_file_or_directory) error.code = Errc::not_found;
    if (failed == std::errc::permission_denied) error.code = Errc::permission;
    return error;
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> visible_names_in(const fs::path& dir, fs::file_type type) {
  STERNA_ASSIGN(std::vector<std::string> names, names_in(dir, type));
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  return names;
}

std::string in_small_letters(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return name;
}

}  // namespace sterna::input
