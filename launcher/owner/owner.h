// The owner of a run that is not the launcher: the process that stays on the head when `sterna up`
// returns, and that runs the job there when the head is another machine. It is this program again,
//
//   sterna __own NAME RUN PARENT
//
// told what to do by the launcher over its standard input and answering on its standard output
// (owner_words.h). What belongs on other hosts the launcher places for it: the keys to them are the
// launcher's. Until the launcher lets it go (`detach`), the end of its standard input ends the run.
// With `again` in its order it becomes the owner's parent (supervisor.h), which starts the owner.
#pragma once

#include <optional>
#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/actor/registry.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// What the owner is told at its start, besides the cluster file.
struct OwnerOrder {
  std::string file_path;   ///< absolute, on the launching machine
  std::string data;        ///< --data
  std::string run_dir;     ///< --run-dir
  std::string run_parent;  ///< where run directories are; "~/" is the home there
  std::uint64_t run = 0;
  std::string program;  ///< what the run's processes are, on the head; empty: this one
  std::uint64_t schema_hash = 0;
  bool detached = false;  ///< the launcher is going to leave
  /// So often the run is started again if its owner dies or ends with kExitGoesOn
  /// (launcher/owner/supervisor.h).
  std::uint32_t again = 0;
  bool begun = false;  ///< it goes on in run_dir, and the launcher has left long ago
  /// What the user typed to start it, where the head has not the file; else empty.
  std::string starts_it = {};
};

std::string order_json(const OwnerOrder& order);
Result<OwnerOrder> parse_order(std::string_view json);

/// The exit code, or null if the program was not started as an owner.
std::optional<int> own_if_asked(int argc, char** argv, const Registry& registry);

}  // namespace sterna::launcher
