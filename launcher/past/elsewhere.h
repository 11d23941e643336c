// The same command on another host, over ssh: for runs whose keys are kept there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/past/run_state.h"
#include "launcher/text/console.h"
#include "runtime/base/clock.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

/// Where the commands of a run are understood.
struct Elsewhere {
  std::string ssh;  ///< destination
  std::string work = "~/.cache/sterna";
};

/// The head of a run that another host keeps.
std::optional<Elsewhere> head_elsewhere(const RunState& state);

/// Lets the newest sterna there do this, whose words are ours, and gives its exit code. Fails where
/// ssh cannot, after ssh's own words.
Result<int> exit_via(const Elsewhere& there, const std::vector<std::string>& arguments);
/// The same; what it says on its standard output goes to `hear`, as it comes.
Result<int> exit_via(const Elsewhere& there, const std::vector<std::string>& arguments,
                     const std::function<void(std::string_view)>& hear);
/// The same as the first; a host that ssh cannot reach is an error like any other.
int run_via(const Elsewhere& there, const std::vector<std::string>& arguments,
            const Console& console);
/// What the newest sterna there says to this on its standard output; an error where it says
/// nothing.
Result<std::string> ask_via(RealMachine& machine, const Elsewhere& there,
                            const std::vector<std::string>& arguments, Duration patience);

}  // namespace sterna::launcher
