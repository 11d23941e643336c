#include "runtime/host/oom_kills.h"

#include <fstream>
#include <optional>

namespace sterna {
namespace {

std::optional<std::uint64_t> counted(const std::string& path) {
  std::ifstream file(path);
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;) {
    if (key == "oom_kill") return value;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t oom_kills_of_own_group(const std::string& root) {
  // Lines like "0::/user.slice" (v2) and "4:memory:/user.slice" (v1).
  std::ifstream groups(root + "/proc/self/cgroup");
  const std::string mounted = root + "/sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (!controllers.empty() && controllers != "memory") continue;
    std::string file = mounted;
    if (controllers.empty()) {
      file.append(group).append("/memory.events");
    } else {
      file.append("/memory").append(group).append("/memory.oom_control");
    }
    if (const auto kills = counted(file)) return *kills;
  }
  return 0;
}

}  // namespace sterna
