// A run that is over, as its directory has it.
#pragma once

#include <optional>
#include <string>

#include "launcher/view/run_status.h"

namespace sterna::launcher {

struct PastRun {
  RunStatus status;  ///< its last, or what can be said without it
  /// Nothing: the directory has no word of its end.
  std::optional<int> exit;
  std::string words;  ///< how it ended
};

PastRun past_run(const std::string& directory);

}  // namespace sterna::launcher
