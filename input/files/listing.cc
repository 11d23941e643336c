#include "input/files/listing.h"

#include <algorithm>
#include <system_error>

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

Error cannot_look_at(const fs::path& path, std::error_code why) {
  Error error = system_error("cannot tell what " + path.string() + " is", why.value());
  if (why == std::errc::permission_denied) error.code = Errc::permission;
  error.message += "; mend or remove the link, or make what it leads to readable";
  return error;
}

}  // namespace

Result<std::vector<std::string>> names_in(const fs::path& dir, fs::file_type type) {
  std::error_code failed;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(dir, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unseen;
    const fs::file_type found = entry->status(unseen).type();
    // Of a link that leads nowhere it is known that it does; of this not even what it is.
    if (found == fs::file_type::none) return cannot_look_at(entry->path(), unseen);
    if (found == type) names.push_back(entry->path().filename().string());
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
