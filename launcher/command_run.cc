// sterna run FILE: a whole job in the foreground, with a view of it, a folder that keeps it, and an
// exit code that tells the truth.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "input/data_source.h"
#include "input/idx.h"
#include "launcher/cluster_file.h"
#include "launcher/commands.h"
#include "launcher/environment.h"
#include "launcher/live_view.h"
#include "launcher/progress_line.h"
#include "launcher/run_directory.h"
#include "launcher/run_job.h"
#include "launcher/text_format.h"

namespace sterna::launcher {

namespace {

/// The job's data; digits are drawn where there is none, with a line that says so.
Result<input::DataLocation> find_data(const RunOptions& options, const ClusterFile& file,
                                      const Clock& clock) {
  input::DataQuery query;
  if (!options.data.empty()) query.flag = options.data;
  if (!file.data.dir.empty()) query.file = file.data.dir;
  if (file.data.name != "any") query.name = file.data.name;
  query.env = input::data_directory(environment);
  query.cache = input::cache_directory(environment);
  query.say = say;
  ProgressLine line(clock);
  query.progress = [&](std::size_t done, std::size_t total) {
    line.show(fmt::format("drawing digits: {} of {}", thousands(static_cast<std::int64_t>(done)),
                          thousands(static_cast<std::int64_t>(total))));
  };
  STERNA_ASSIGN(input::DataLocation found, input::find_data(query));
  // What is wrong with the files is said now, in a line, and not by an actor of a run.
  for (const input::Split split : {input::Split::train, input::Split::test}) {
    STERNA_TRY(input::check_mnist(found.dir, split));
  }
  return found;
}

/// Metrics that cannot be written any more (a full disk) are said once; the training goes on.
class Metrics {
 public:
  explicit Metrics(RunDirectory& directory) : directory_(directory) {}
  void append(const std::string& line) {
    if (failed_) return;
    const Result<void> written = directory_.append_metrics(line);
    if (written) return;
    failed_ = true;
    say(written.error().message);
  }

 private:
  RunDirectory& directory_;
  bool failed_ = false;
};

/// A result that cannot be kept makes a failure of a run that was none.
void keep(RunDirectory& directory, RunResult& result) {
  Result<void> kept = directory.write_result(result);
  if (const Result<void> closed = directory.close(); kept && !closed) kept = closed;
  if (kept) return;
  if (result.exit != exit_done) {
    say(kept.error().message);
    return;
  }
  result.exit = exit_failed;
  result.cause = kept.error().message;
}

/// The last lines. Of a run that is done they are its result, and follow the view.
std::string ending(const RunResult& result, const StopReport& stop) {
  if (result.exit == exit_done) {
    return fmt::format("precision@1 {:.4f} on {} after {} steps in {:.1f} s; everything is in {}",
                       result.precision_at_1.value_or(0), result.data, thousands(result.steps),
                       result.seconds, result.run);
  }
  if (result.exit == exit_interrupted) {
    return fmt::format("interrupted at step {}: {} processes stopped, {} killed; logs are in {}",
                       thousands(result.steps), stop.stopped, stop.killed, result.run);
  }
  if (result.steps == 0) return fmt::format("{} (logs are in {}/logs)", result.cause, result.run);
  return fmt::format("the run failed at step {}; logs are in {}/logs\n{}", thousands(result.steps),
                     result.run, result.cause);
}

/// Whatever stops a run before it begins is to be put right first.
int before_the_run(const Error& error) {
  report(error);
  return exit_bad_input;
}

}  // namespace

int run_command(const RunOptions& options) {
  const SteadyClock clock;
  const Time began = clock.now();
  const Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  const Result<input::DataLocation> data = find_data(options, *file, clock);
  if (!data) return report(data.error());

  RunDirectoryOptions where;
  where.config = file->cluster.name;
  where.explicit_path = options.run_dir;
  where.now = std::chrono::system_clock::now();
  Result<RunDirectory> directory = RunDirectory::create(where);
  if (!directory) return before_the_run(directory.error());
  // The run again, from this file alone: with the data that it is given now.
  ClusterFile resolved = *file;
  resolved.data.name = data->name;
  resolved.data.dir = std::filesystem::absolute(data->dir).string();
  if (const Result<void> written = directory->write_resolved(resolved); !written) {
    return before_the_run(written.error());
  }

  Metrics metrics(*directory);
  JobOptions job;
  job.file = *file;
  job.data = *data;
  job.began = began;
  job.run_directory = directory->path();
  job.weights = directory->weights_path();
  job.log_directory = directory->logs_path();
  job.hooks.step = [&](const StepMetrics& step) { metrics.append(to_json(step)); };
  job.hooks.evaluation = [&](const EvaluationResult& one) { metrics.append(to_json(one)); };

  // With --json the last line of standard output is the result, so the view goes to the other one.
  std::unique_ptr<RunView> view = make_run_view(options.json ? stderr : stdout, clock);
  const JobOutcome outcome =
      run_job(job, [&](const RunRecord& record) { view->update(record.status); });
  view->finish(outcome.record.status);
  view.reset();

  RunResult result = outcome.record.result;
  if (outcome.stop.survivors != 0) {
    say(fmt::format("killed {} of the run's processes that its node had left behind",
                    outcome.stop.survivors));
  }
  if (!outcome.started && result.exit == exit_failed) {
    // There was nobody to run yet: the cause is all that is worth keeping.
    directory->discard();
    say(result.cause);
  } else {
    keep(*directory, result);
    const std::string last = ending(result, outcome.stop);
    if (result.exit == exit_done && !options.json) {
      if (!print_result(last + "\n")) return exit_failed;
    } else {
      say(last);
    }
  }
  if (options.json && !print_result(to_json(result) + "\n") && result.exit == exit_done) {
    return exit_failed;
  }
  return result.exit;
}

}  // namespace sterna::launcher
