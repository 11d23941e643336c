// How the run of a directory has ended, by what lies there: whatever this machine remembers of it.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct DirectoryEnd {
  enum class Phase : std::uint8_t {
    no_run,   ///< it is no run's directory, or is not there
    goes_on,  ///< a process writes into it
    told,     ///< it has a result
    silent,   ///< it has none: the run was killed, or its disk was full
  };
  Phase phase = Phase::no_run;
  // Of a run that is over:
  int exit = kExitFailed;
  std::string words;   ///< behind its name: "has ended at step 7: ..."
  std::string resume;  ///< the command that goes on in this directory; empty: none does
  std::string json;    ///< an object on a line

  bool is_over() const { return phase == Phase::told || phase == Phase::silent; }
  /// For people; the command, if any, is the last line.
  std::string told_of(const std::string& name) const;
};

/// The directory may have been moved since, or have been forgotten by `sterna down`. Errors:
/// permission, where it cannot be read.
Result<DirectoryEnd> directory_end(const std::string& directory);

}  // namespace sterna::launcher
