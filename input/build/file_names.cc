#include "input/build/file_names.h"

#include <algorithm>
#include <cstddef>

namespace sterna::input {

namespace {

/// File systems take 255 bytes; an ending and a number come behind.
constexpr std::size_t kLongestName = 200;

bool is_unsafe(char c) {
  constexpr std::string_view kRefused = "<>:\"|?*";
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f || kRefused.find(c) != std::string_view::npos;
}

}  // namespace

std::string safe_file_name(std::string_view name) {
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string safe(name.substr(0, kLongestName));
  std::ranges::replace_if(safe, is_unsafe, '_');
  if (safe.starts_with('.')) safe.front() = '_';
  return safe;
}

std::string free_name(std::set<std::string>& taken, std::string_view stem, std::string_view ending,
                      std::string_view suffix) {
  std::string name(stem);
  // More than one round only where a name ends as another one's suffix does.
  while (!taken.insert(name + std::string(ending)).second) (name += '-') += suffix;
  return name + std::string(ending);
}

}  // namespace sterna::input
