// What the commands that look at a run have in common: their options, the way to the run, and what
// they say of one that does not answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/commands/command.h"
#include "launcher/past/run_state.h"
#include "launcher/past/run_visitor.h"
#include "launcher/view/live_view.h"

namespace sterna::launcher {

/// A run that answers does so within that.
constexpr Duration kVisitPatience = std::chrono::seconds(5);

struct VisitOptions {
  std::string run;  ///< an id, a name, the beginning of either; empty: the only one
  std::string via;  ///< ask on that host, over ssh
  bool json = false;
  bool changes = false;                ///< something of the run, and fails of one that is over
  RunViewChoice view = {};             ///< of watch
  std::vector<std::string> more = {};  ///< words that the same command has elsewhere, behind RUN
};

/// `own`, --via and --json.
std::vector<Argument> visit_arguments(VisitOptions& options, std::vector<Argument> own);
/// RUN, for `own`.
Argument run_argument(std::string& run);
/// RUN where the words behind it would be taken for it, and HOST.
Argument named_run_argument(std::string& run);
Argument host_argument(std::string& host);
/// --within, of what is waited for; and what it says.
Argument within_argument(std::string& text);
Result<Duration> within_of(const std::string& text);
/// The same command for another host.
std::vector<std::string> words_for(const std::string& command, const VisitOptions& options);

struct Visit {
  RealMachine& machine;
  const RunStates& states;
  const RunState& state;
  RunVisitor& visitor;
};
/// `then` with the run that is meant, if it answers; else what can be said of it without.
int with_visitor(const std::string& command, const VisitOptions& options, const Console& console,
                 const std::function<int(const Visit&)>& then);
/// Over: says so; elsewhere: asks the head, which may know more.
int without_answer(RealMachine& machine, const RunStates& states, const RunState& remembered,
                   const std::string& command, const VisitOptions& options, const Error& error,
                   const Console& console);

}  // namespace sterna::launcher
