#include "launcher/run/run_files.h"

#include <utility>

#include "launcher/summary/event_file.h"
#include "launcher/text/console.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {

namespace {

double unix_seconds_now() { return in_unix_seconds(std::chrono::system_clock::now()); }

}  // namespace

RunFiles::RunFiles(RunDirectory& directory, const Say& say, const Clock& clock)
    : events_(directory.take_events(), say, clock, unix_seconds_now) {
  metrics_.add(std::make_unique<MetricsFile>(directory.take_metrics(), say, clock));
}

Result<std::unique_ptr<RunFiles>> RunFiles::open(RunDirectory& directory, const ClusterFile& file,
                                                 const Say& say, const Clock& clock,
                                                 std::chrono::system_clock::time_point now) {
  std::unique_ptr<RunFiles> files(new RunFiles(directory, say, clock));
  if (!file.summary.tensorboard) return files;
  STERNA_ASSIGN(EventFile lines,
                EventFile::create(directory.path(), in_unix_seconds(now), resolved(file)));
  auto shown =
      std::make_unique<MetricsFile>(std::make_unique<EventFile>(std::move(lines)), say, clock);
  files->for_tensorboard_ = shown.get();
  files->metrics_.add(std::move(shown));
  return files;
}

void RunFiles::changed(const RunRecord& record) {
  step_ = record.status.step;
  metrics_.look();
  events_.look();
}
void RunFiles::step(const StepMetrics& metrics) { metrics_.append(to_json(metrics)); }
void RunFiles::loss(const LossMetrics& metrics) { metrics_.append(to_json(metrics)); }
void RunFiles::evaluation(const EvaluationResult& result) { metrics_.append(to_json(result)); }
void RunFiles::tensor(const TensorMetrics& metrics) { metrics_.append(to_json(metrics)); }
void RunFiles::histogram(const HistogramMetrics& metrics) {
  if (for_tensorboard_ != nullptr) for_tensorboard_->append(to_json(metrics));
}
void RunFiles::picture(const PictureMetrics& metrics) {
  if (for_tensorboard_ != nullptr) for_tensorboard_->append(to_json(metrics));
}
void RunFiles::actor_restarts(const ActorRestart& restart) { metrics_.append(to_json(restart)); }
void RunFiles::checkpoint_missed(const std::string& line) {
  metrics_.append(json_line({{"kind", "missed_checkpoint"}, {"why", line}}));
  events_.append({.kind = "missed_checkpoint", .step = step_, .cause = line});
}
void RunFiles::event(const Event& event) { events_.append(event); }

void RunFiles::began(std::int64_t step, const std::string& cause) {
  events_.append({.kind = "began", .step = step, .cause = cause});
}

void RunFiles::begun_again(std::int64_t step, std::chrono::system_clock::time_point now) {
  metrics_.append(
      to_json(Restart{.step = step, .cause = "the run was begun again"}, in_unix_seconds(now)));
}

void RunFiles::restarts(const Restart& restart) {
  metrics_.append(to_json(restart, unix_seconds_now()));
  events_.append({.kind = "restart",
                  .step = restart.step,
                  .cause = restart.cause,
                  .steps_again = restart.steps_again});
}

void RunFiles::passed_over(const std::vector<std::string>& lines, std::int64_t step) {
  for (const std::string& line : lines) {
    events_.append({.kind = "passed_over", .step = step, .cause = line});
  }
}

void RunFiles::ended(const RunResult& result) {
  events_.append({.kind = "ended",
                  .step = result.steps,
                  .cause = result.exit == kExitDone ? "done" : result.cause,
                  .seconds = result.seconds});
}

Result<void> RunFiles::close_events() { return events_.close(); }
Result<void> RunFiles::close_metrics() { return metrics_.close(); }

}  // namespace sterna::launcher
