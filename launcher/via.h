// The same command on another host, over ssh: for runs whose keys are kept there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/run_state.h"
#include "runtime/base/clock.h"
#include "runtime/real_machine.h"

namespace sterna::launcher {

/// Where the commands of a run are understood.
struct Elsewhere {
  std::string ssh;  ///< destination
  std::string work = "~/.cache/sterna";
};

/// The head of a run that another host keeps.
std::optional<Elsewhere> head_elsewhere(const RunState& state);

/// Becomes ssh, which runs the newest sterna there with these arguments; returns only when that
/// fails, with the exit code. (One that cannot reach the host ends as ssh does, with 255.)
int run_via(const Elsewhere& there, const std::vector<std::string>& arguments);
/// What it says there, instead.
Result<std::string> ask_via(RealMachine& machine, const Elsewhere& there,
                            const std::vector<std::string>& arguments, Duration patience);

}  // namespace sterna::launcher
