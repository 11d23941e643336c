// Which deaths the kernel's killings for want of memory explain, in this process's control group.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/clock.h"

namespace sterna {

/// The counter of the group that this process is in, 0 where the system keeps none: cgroup v2
/// (memory.events), else v1 (memory.oom_control). Deaths in other groups, which may be other
/// people's, do not count. `root`: where /proc and /sys are.
std::uint64_t oom_kills_of_own_group(const std::string& root = "");

/// Each kill that the counter shows explains one death that follows it at once; those that nobody
/// here died of, as they struck others of the group, explain nothing later on.
class OomKills {
 public:
  explicit OomKills(std::string root = "");
  /// A child has died now: was it likely by one of them? `killed`: by SIGKILL.
  bool explain(bool killed, Time now);

 private:
  std::string root_;
  std::uint64_t counted_ = 0;
  std::uint64_t unexplained_ = 0;
  Time since_{};  ///< when the newest of those was counted
};

}  // namespace sterna
