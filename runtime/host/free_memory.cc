#include "runtime/host/free_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/host/memory_group.h"

namespace sterna {
namespace {

/// The number that a file holds; none where it holds a word ("max") or is not there.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

/// Of lines like "key 12" and "key:   12 kB".
std::optional<std::uint64_t> entry_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string name, rest; file >> name && std::getline(file, rest);) {
    if (name != key && name != key + ":") continue;
    std::istringstream words(rest);
    std::uint64_t value = 0;
    if (words >> value) return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> left_in(const MemoryGroup& group) {
  const auto file = [&](const char* v2, const char* v1) {
    return group.folder + (group.unified ? v2 : v1);
  };
  const auto limit = number_in(file("/memory.max", "/memory.limit_in_bytes"));
  const auto used = number_in(file("/memory.current", "/memory.usage_in_bytes"));
  if (!limit || !used) return std::nullopt;
  const std::string statistics = group.folder + "/memory.stat";
  std::uint64_t of_files = entry_of(statistics, group.unified ? "file" : "cache").value_or(0);
  // Memory that is shared is among them, and nothing can be read again in its place.
  of_files -= std::min(of_files, entry_of(statistics, "shmem").value_or(0));
  const std::uint64_t taken = *used - std::min(*used, of_files);
  return *limit - std::min(*limit, taken);
}

}  // namespace

std::optional<std::uint64_t> free_memory(const std::string& root) {
  std::optional<std::uint64_t> least = entry_of(root + "/proc/meminfo", "MemAvailable");
  if (least) *least *= 1024;
  for (const MemoryGroup& group : own_memory_groups(root)) {
    if (const auto left = left_in(group)) least = std::min(*left, least.value_or(*left));
  }
  return least;
}

}  // namespace sterna
