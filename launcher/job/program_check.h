// The program of a run's processes, where it is not sterna itself: what it says of its actor types
// before anything is started.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/actor/registry.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

struct Program {
  std::string path;  ///< absolute; empty: this one
  std::uint64_t schema_hash = 0;
};

/// Asks the file's program (`PATH --describe --json`) and checks the actors' types and the names of
/// their arguments against its answer, and has it check the values (`PATH --check-args`). `own` is
/// sterna's own, for a file without a program. Errors name the actor and what there is instead.
Result<Program> check_program(RealMachine& machine, const Registry& own, const ClusterFile& file);

}  // namespace sterna::launcher
