#include "runtime/host/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace sterna {

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Machines with more cores than the set has room for are refused.
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  const int count = known ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return static_cast<std::uint32_t>(std::max(count, 1));
}

}  // namespace sterna
