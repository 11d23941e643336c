// Where real data lies, for tests that are skipped without it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sterna::input {

/// `name` in $STERNA_DATA, ~/.cache/sterna or ../shared/data beside the checkout: the first there
/// is.
inline std::optional<std::filesystem::path> real_data(const std::string& name) {
  namespace fs = std::filesystem;
  std::vector<fs::path> places;
  if (const char* data = std::getenv("STERNA_DATA")) places.emplace_back(data);
  if (const char* home = std::getenv("HOME")) places.push_back(fs::path(home) / ".cache/sterna");
  if (const char* source = std::getenv("STERNA_SOURCE"))
    places.push_back(fs::path(source) / "../shared/data");
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::exists(place / name, ignored)) return place / name;
  }
  return std::nullopt;
}

}  // namespace sterna::input
