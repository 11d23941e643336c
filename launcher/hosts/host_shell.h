// A POSIX shell on every host, asked side by side: for what must work whatever became of a run, and
// before anything of ours is there.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/host/real_machine.h"
#include "runtime/host/spawner.h"

namespace sterna::launcher {

/// What one host's shell is to run. The script comes over standard input, so that it may hold any
/// character and is not seen in a process table; it reads nothing there but, once it has said
/// kShellReady, one line.
struct ShellQuestion {
  std::string host;  ///< as messages call it
  std::string ssh;   ///< destination; empty: this machine
  std::string script;
};

/// Says, on a line of its own, that the script waits for a line; it gets it at once. What it says
/// next bounds its clock.
inline constexpr const char* kShellReady = "STERNA ready";

struct ShellAnswer {
  std::string output;
  std::string errors;
  std::optional<ProcessExit> exit;  ///< none: it did not end in time
  /// This machine's wall clock when the waiting script got its line, and when it spoke again.
  std::optional<std::chrono::system_clock::time_point> asked;
  std::optional<std::chrono::system_clock::time_point> answered;
};

/// The answers, in the order of the questions. Whoever has not ended after `patience`, or when
/// `stop` says so, is killed. `patience` is also ssh's own to connect.
std::vector<ShellAnswer> ask_shells(
    RealMachine& machine, const std::vector<ShellQuestion>& questions, Duration patience,
    const std::function<bool()>& stop = [] { return false; });

/// Why an answer lacks what the script would have said: one line for the user.
std::string shell_trouble(const ShellQuestion& question, const ShellAnswer& answer);

}  // namespace sterna::launcher
