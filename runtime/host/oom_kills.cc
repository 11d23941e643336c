#include "runtime/host/oom_kills.h"

#include <fstream>
#include <optional>

#include "runtime/host/memory_group.h"

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
  for (const MemoryGroup& group : own_memory_groups(root)) {
    if (const auto kills =
            counted(group.folder + (group.unified ? "/memory.events" : "/memory.oom_control"))) {
      return *kills;
    }
  }
  return 0;
}

}  // namespace sterna
