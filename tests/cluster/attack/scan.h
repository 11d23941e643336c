// A port scan: one connection to each port, closed as soon as it stands.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "tests/cluster/attack/targets.h"

namespace sterna::test {

struct ScanReport {
  double seconds = 0;
  std::vector<Target> open;
  std::uint64_t refused = 0;
  std::uint64_t silent = 0;  ///< no answer in time
};

/// Waits at most `patience` for the answer of a port; hundreds of them at the same time.
ScanReport scan(const std::vector<Target>& targets, Duration patience);

}  // namespace sterna::test
