// A flood: connections by people who have no key, at a rate or as fast as the machine gives them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "tests/cluster/attack/openings.h"
#include "tests/cluster/attack/targets.h"

namespace sterna::test {

struct FloodOptions {
  std::vector<Target> targets;  ///< in turn
  double rate = 100;            ///< new connections a second; 0: as many as there can be
  double bytes = 5e6;           ///< a second, all together, while there is a rate
  Duration duration = std::chrono::seconds(60);
  std::size_t open_at_most = 0;  ///< at the same time; 0: what the descriptor limit allows
  std::uint64_t seed = 1;
};

struct FloodReport {
  double seconds = 0;
  std::array<std::uint64_t, kOpenings> connections = {};  ///< that came to stand, by Opening
  std::uint64_t attempts = 0;
  std::uint64_t refused = 0;  ///< no connection: refused, reset, or no socket left
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t open_at_most = 0;  ///< connections at the same time
  double held_longest = 0;         ///< seconds that a half handshake stayed open
  std::uint64_t accepted = 0;      ///< peers that went on with a handshake without a key
};

FloodReport flood(const FloodOptions& options);

}  // namespace sterna::test
