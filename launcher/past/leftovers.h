// What is left of a run on its hosts, by their own process tables: asked with nothing but a POSIX
// shell, so that it works whatever became of the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/past/run_state.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

/// A process of some run of this user's on a host.
struct HostProcess {
  std::string host;
  std::int64_t pid = 0;
  std::string name;
  std::string run;     ///< in hex, as on its command line
  std::string log;     ///< the file that it logs to; empty: none, or it cannot be seen
  bool keeps = false;  ///< it keeps the run, and `name` is the run's
};

struct HostSweep {
  std::string host;
  std::uint32_t found = 0;  ///< processes that were still there after the patience, and were killed
  std::uint32_t left = 0;   ///< of those, still there after SIGKILL
  std::string error;        ///< why the host could not be asked; empty: it was
};

/// All hosts side by side.
std::vector<HostSweep> sweep(RealMachine& machine, const std::vector<StateHost>& hosts,
                             std::uint64_t run, Duration patience);
/// The runs' processes on these hosts; `errors` gets a line for each host that could not be asked.
std::vector<HostProcess> processes_on(RealMachine& machine, const std::vector<StateHost>& hosts,
                                      std::vector<std::string>& errors);

}  // namespace sterna::launcher
