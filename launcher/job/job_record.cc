#include "launcher/job/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "input/place/data_set.h"
#include "kernels/isa/isa.h"
#include "launcher/job/program_run.h"
#include "launcher/text/console.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {

RunRecord blank_record(const JobOptions& options) {
  const ClusterFile& file = options.file;
  RunRecord record;
  RunStatus& status = record.status;
  status.config = file.cluster.name;
  status.run_directory = options.run_directory;
  status.phase = "starting";
  status.steps = static_cast<std::int64_t>(file.job.steps);
  if (options.from != nullptr) {
    status.step = status.first_step = static_cast<std::int64_t>(options.from->manifest.step);
  }
  if (!options.restarts.empty()) {
    const Restart& last = options.restarts.back();
    status.restarts = options.restarts.size();
    status.restart = fmt::format(
        "restart {} of {}, from {}: {}", options.restarts.size(), file.checkpoint.restarts,
        last.step > 0 ? "step " + thousands(last.step) : "the start", last.cause);
    status.log_lines.push_back(status.restart);
    status.logged = 1;
  }
  for (const ActorPlan& actor : file.actors) {
    const std::string_view role = facts_of(actor.role).name;
    status.actors.push_back(
        {actor.name, role.empty() ? actor.type : std::string(role), "starting"});
  }
  if (!file.trains()) expect_actors(record, file);
  RunResult& result = record.result;
  result.run = options.run_directory;
  result.restarts = options.restarts;
  result.first_step = status.first_step;
  result.workers = file.count(Role::kWorker);
  result.ranks = file.ranks();
  result.data = input::told_name(options.data.dir, options.data.name);
  result.data_dir = options.data.folder().string();
  result.codec = file.gradient.codec;
  result.transport = file.cluster.transport;
  result.security = result.transport == "ipc" ? "token" : file.cluster.security;
  if (const auto isa = kernels::parse_isa(file.job.cpu_isa)) result.isa = kernels::name(*isa);
  result.job = {.name = file.cluster.name,
                .net = file.job.net,
                .steps = file.job.steps,
                .batch = file.job.batch,
                .seed = file.job.seed,
                .scheme = file.scheme.name,
                .optimizer = file.optimizer.name,
                .learning_rate = file.optimizer.learning_rate,
                .weight_decay = file.optimizer.weight_decay,
                .error_feedback = file.gradient.error_feedback};
  return record;
}

void close_record(RunRecord& record, const ClusterFile& file, const JobEnd& end) {
  RunResult& result = record.result;
  RunStatus& status = record.status;
  status.left_seconds.reset();
  if (record.finished) {
    status.elapsed_seconds = result.seconds;
  } else if (!file.trains() || record.first_step_began) {
    result.seconds = status.elapsed_seconds;
  }
  // What is kept was made, though no worker may have said so yet.
  status.step = std::max(status.step, status.checkpoint_step);
  if (file.trains()) result.steps = status.step;
  switch (end.kind) {
    case JobEnd::Kind::kDone:
      status.phase = "done";
      break;
    case JobEnd::Kind::kInterrupted:
      status.phase = "interrupted";
      result.exit = kExitInterrupted;
      break;
    case JobEnd::Kind::kFailed:
      status.phase = "failed";
      result.exit = kExitFailed;
      result.consequences = end.consequences;
      break;
  }
  if (end.kind != JobEnd::Kind::kDone) {
    result.cause = end.cause;
    // Of whom nobody has said how it ended: nothing outlives a run.
    for (ActorStatus& actor : status.actors) {
      if (!actor.has_ended()) actor.state = "stopped";
    }
  } else if (file.trains()) {
    for (ActorStatus& actor : status.actors) actor.state = "done";
    if (!end.weights_left.empty()) {
      status.phase = "failed";
      result.exit = kExitFailed;
      result.cause = end.weights_left;
    }
  }
  status.cause = result.cause;
}

}  // namespace sterna::launcher
