#include "launcher/past/queued_run.h"

#include "launcher/hosts/slurm_batch.h"
#include "runtime/base/log_tail.h"

namespace sterna::launcher {

const JobQueue* queue_of(const RunState& state) {
  return state.slurm_job.empty() ? nullptr : placer_named(state.placer).queue();
}

Result<QueuedJob> queued_job(RealMachine& machine, const RunState& state) {
  const JobQueue* queue = queue_of(state);
  if (queue == nullptr) return Error{Errc::not_found, "no queue keeps " + state.id};
  return queue->look(machine, state.slurm_job);
}

std::string words_of(const Result<QueuedJob>& job) {
  return job ? job->words : job.error().message;
}

namespace {

/// What a job that failed said last, where this machine sees its file: before a run has begun there
/// is no other word of why.
std::string last_word(const RunState& state) {
  const auto lines = log_tail(output_beside(state.run_directory), 1);
  return lines.empty() ? "" : "; it said last: " + lines.front();
}

}  // namespace

RunState with_queues_end(RealMachine& machine, const RunStates& states, RunState state,
                         const Console& console) {
  if (queue_of(state) == nullptr || !state.ended.empty()) return state;
  const Result<QueuedJob> job = queued_job(machine, state);
  if (!job || !job->over) return state;
  // Where the home is shared, the run itself has left its last words meanwhile.
  if (const Result<RunState> after = states.find(state.id); after && !after->ended.empty()) {
    return *after;
  }
  state.ended = job->words + (job->done ? "" : last_word(state));
  state.exit = job->done ? kExitDone : kExitFailed;
  state.operators.clear();
  if (const Result<void> written = states.write(state); !written)
    console.say(written.error().message);
  return state;
}

}  // namespace sterna::launcher
