// How a run's end is judged: whether it may go on from a checkpoint, the exit code that says so,
// and the last lines for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launcher/run/whole_run.h"

namespace sterna::launcher {

/// Whether the same job, started once more, may go on: neither did its user end it, nor what would
/// happen again. `job` has the restarts that it had before; `stuck`: it was lost too often from one
/// step.
bool may_go_on(const JobOutcome& outcome, const JobOptions& job, bool stuck);

/// The step of the newest whole checkpoint of this job that leaves steps to make.
std::optional<std::uint64_t> own_checkpoint(const JobOutcome& outcome, const JobOptions& job);

/// What a run that is over gives to a program: exit code 75 where it may go on from its checkpoint,
/// and `resume`, the command that does; who was interrupted hears of the command, too, and so do
/// people of one that failed.
void tell_how_it_goes_on(JobOutcome& outcome, const JobOptions& job, bool stuck,
                         const std::string& resume);

/// The last lines. Of a run that is done they are its result, and follow the view; of one that goes
/// on the last of them is the command.
std::string last_words(const WholeRunOptions& options, const JobOutcome& outcome);

}  // namespace sterna::launcher
