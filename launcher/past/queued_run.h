// A run that a queue keeps (launcher/hosts/placer.h), as it is remembered here.
#pragma once

#include <string>

#include "launcher/hosts/placer.h"
#include "launcher/past/run_state.h"
#include "launcher/text/console.h"

namespace sterna::launcher {

/// The queue that keeps this run; null: none does.
const JobQueue* queue_of(const RunState& state);

/// What the queue of such a run says of it; for people the words, or why there are none.
Result<QueuedJob> queued_job(RealMachine& machine, const RunState& state);
std::string words_of(const Result<QueuedJob>& job);

/// `state` with the queue's word of how its job ended, if it has one and nobody else left word.
RunState with_queues_end(RealMachine& machine, const RunStates& states, RunState state,
                         const Console& console);

}  // namespace sterna::launcher
