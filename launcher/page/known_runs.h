// The runs whose directories lie on this host: for a page that compares its own with them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "launcher/past/run_state.h"

namespace sterna::launcher {

struct KnownRun {
  std::string name;       ///< of its directory
  std::string directory;  ///< absolute
};

inline constexpr std::size_t kMostKnownRuns = 200;

/// Those beside `directory`, itself included, and those that this machine remembers; the youngest
/// directories first, at most kMostKnownRuns.
std::vector<KnownRun> known_runs(const std::string& directory,
                                 const std::vector<RunState>& remembered);

/// [{"name", "directory", "own", "result": {what its result.json says in short: numbers, null where
/// it has none, and texts} or null}…]
std::string known_runs_json(const std::vector<KnownRun>& runs, const std::string& own);

/// RunStory::all() of a run's directory; "null" where there are no metrics.
std::string run_story_json(const std::string& directory);

}  // namespace sterna::launcher
