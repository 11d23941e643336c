// How often the kernel has killed a process of this one's control group for want of memory.
#pragma once

#include <cstdint>
#include <string>

namespace sterna {

/// The counter of the group that this process is in, 0 where the system keeps none: cgroup v2
/// (memory.events), else v1 (memory.oom_control). Deaths in other groups, which may be other
/// people's, do not count. `root`: where /proc and /sys are.
std::uint64_t oom_kills_of_own_group(const std::string& root = "");

}  // namespace sterna
