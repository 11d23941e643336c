// The control groups that account for this process's memory.
#pragma once

#include <string>
#include <vector>

namespace sterna {

struct MemoryGroup {
  std::string folder;
  bool unified = true;  ///< cgroup v2; else v1, whose files have other names
};

/// Those of this process, none where the system keeps none. `root`: where /proc and /sys are.
std::vector<MemoryGroup> own_memory_groups(const std::string& root = "");

}  // namespace sterna
