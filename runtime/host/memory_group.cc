#include "runtime/host/memory_group.h"

#include <fstream>

namespace sterna {

std::vector<MemoryGroup> own_memory_groups(const std::string& root) {
  // Lines like "0::/user.slice" (v2) and "4:memory:/user.slice" (v1).
  std::ifstream groups(root + "/proc/self/cgroup");
  std::vector<MemoryGroup> own;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const std::string mounted = root + "/sys/fs/cgroup" + (controllers.empty() ? "" : "/memory");
    own.push_back({mounted + line.substr(second + 1), controllers.empty()});
  }
  return own;
}

}  // namespace sterna
