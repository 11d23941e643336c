// A directory as users name it, "runs/mine/" or ".", and the one path that it has whoever asks.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace sterna::launcher {

/// "runs/mine" of "runs/mine/", which a shell completes a directory's name to.
inline std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// Without ".", ".." and a last slash: equal where two words name the same directory, as far as no
/// link leads to it. By it runs are told apart.
inline std::string absolute_directory(const std::filesystem::path& given) {
  std::error_code failed;  // there is no current folder
  const std::filesystem::path path = std::filesystem::absolute(given, failed);
  return without_last_slashes((failed ? given : path).lexically_normal().string());
}

/// The last part of absolute_directory(); "" of the root.
inline std::string directory_name(const std::filesystem::path& given) {
  return std::filesystem::path(absolute_directory(given)).filename().string();
}

}  // namespace sterna::launcher
