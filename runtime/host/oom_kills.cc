#include "runtime/host/oom_kills.h"

#include <fstream>
#include <optional>
#include <utility>

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

/// Two that die of one want are not seen dead in the same moment.
constexpr Duration kAtOnce = std::chrono::seconds(1);

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

OomKills::OomKills(std::string root)
    : root_(std::move(root)), counted_(oom_kills_of_own_group(root_)) {}

bool OomKills::explain(bool killed, Time now) {
  const std::uint64_t counted = oom_kills_of_own_group(root_);
  if (now - since_ > kAtOnce) unexplained_ = 0;
  if (counted > counted_) {
    unexplained_ += counted - counted_;
    since_ = now;
  }
  counted_ = counted;
  if (!killed || unexplained_ == 0) return false;
  --unexplained_;
  return true;
}

}  // namespace sterna
