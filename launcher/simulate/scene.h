// Scene: what a seed draws: a job, who takes part in it, how slow its network and its computing
// are, and what goes wrong when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/simulate/fault.h"

namespace sterna::launcher {

struct Scene {
  std::uint64_t seed = 0;
  ClusterFile file;
  /// Two scenes of the same word end in the same bits, undisturbed.
  std::string job;
  /// Its ranks do not go in step: no other run has the same bits, but what servers answer adds up.
  bool apart = false;
  Duration longest_delay{};  ///< of a message; each takes some of it
  Duration longest_job{};    ///< of what an executor computes
  std::vector<Fault> schedule;
  /// Whom the schedule kills that do not come again: the run has to end naming one of them, or,
  /// with checkpoints, to go on from the newest.
  std::vector<std::string> ends_with;
};

/// The scene of a seed. Fails only if the file that it writes is not one.
Result<Scene> draw_scene(std::uint64_t seed);

/// For a reader: the scene without its schedule.
std::string describe(const Scene& scene);

}  // namespace sterna::launcher
