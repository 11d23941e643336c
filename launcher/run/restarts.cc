#include "launcher/run/restarts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "launcher/job/resume.h"
#include "launcher/text/console.h"
#include "launcher/text/text_format.h"
#include "runtime/base/duration_text.h"

namespace sterna::launcher {
namespace {

Duration since_first_step(const JobOutcome& outcome) {
  const auto& began = outcome.record.first_step_began;
  return began ? outcome.ended - *began : Duration::zero();
}

void note_first_step(std::vector<Restart>& made, Time lost_at, const JobOutcome& outcome) {
  if (made.empty() || !outcome.record.first_step_seen) return;
  made.back().seconds = in_seconds(*outcome.record.first_step_seen - lost_at);
}

/// Those of evaluations that were due on the way to `step`, from where all go on, and were not
/// made: they were skipped, or the evaluator had yet to come to them.
std::set<std::int64_t> skipped_until(std::int64_t step, const JobOutcome& outcome,
                                     const ClusterFile& file) {
  const RunResult& result = outcome.record.result;
  const auto every = static_cast<std::int64_t>(file.evaluation.every);
  std::set<std::int64_t> left;
  if (every == 0 || file.evaluation.every_seconds > 0) return left;
  for (std::int64_t due = (result.first_step / every + 1) * every; due <= step; due += every) {
    left.insert(due);
  }
  for (const EvaluationResult& one : result.evaluations) left.erase(one.step);
  return left;
}

}  // namespace

bool Restarts::after(const JobOutcome& outcome, JobOptions& job) {
  const actors::CheckpointSection& checkpoint = job.file.checkpoint;
  note_first_step(made_, lost_at_, outcome);
  if (!outcome.lost || outcome.interrupted || outcome.told_while_stopping || !checkpoint.on()) {
    return false;
  }
  // Of the run's own: another's would be gone on from as if its steps were done here.
  auto found = newest_with_steps_left(job.checkpoints, job.file.job.net, job.file.job.steps, true,
                                      only_of(job.file, job.identity));
  if (found != nullptr) job.from = std::move(found);
  const std::int64_t step =
      job.from ? static_cast<std::int64_t>(job.from->manifest.step) : std::int64_t{0};
  const auto from_it = std::ranges::count(made_, step, &Restart::step);
  stuck_ = static_cast<std::size_t>(from_it) >= kMostFromOneStep;
  if (stuck_ || made_.size() >= checkpoint.restarts) return false;

  lost_at_ = outcome.ended;
  if (made_.empty()) first_step_ = outcome.record.result.first_step;
  std::ranges::copy(outcome.record.result.actor_restarts, std::back_inserter(actor_restarts_));
  std::ranges::copy(outcome.record.result.lost_workers, std::back_inserter(lost_workers_));
  trained_ += since_first_step(outcome);
  missed_ += outcome.record.result.missed_checkpoints;
  missed_copies_ += outcome.record.result.missed_copies;
  left_out_ = std::max(left_out_, outcome.record.result.left_out_examples);
  std::erase_if(skipped_steps_, [&](std::int64_t one) { return one > step; });
  skipped_steps_.merge(skipped_until(step, outcome, job.file));
  if (job.file.evaluation.every_seconds > 0) skipped_ += outcome.record.result.skipped_evaluations;
  late_packets_ += outcome.record.result.late_packets;
  lost_losses_ += outcome.record.result.lost_losses;
  lost_histograms_ += outcome.record.result.lost_histograms;
  relinked_ += outcome.record.result.relinked;
  residuals_lost_ += outcome.record.result.residuals_lost;
  injected_faults_ += outcome.record.result.injected_faults;
  std::erase_if(evaluations_, [&](const EvaluationResult& one) { return one.step > step; });
  std::ranges::copy_if(outcome.record.result.evaluations, std::back_inserter(evaluations_),
                       [&](const EvaluationResult& one) { return one.step <= step; });
  made_.push_back({.step = step,
                   .steps_again = std::max<std::int64_t>(0, outcome.record.status.step - step),
                   .cause = outcome.record.result.cause});
  job.restarts = made_;
  return true;
}

RunStatus Restarts::whole(RunStatus last) const {
  last.elapsed_seconds += in_seconds(trained_);
  last.skipped_evaluations += skipped_ + skipped_steps_.size();
  last.late_packets += late_packets_;
  last.actor_restarts += actor_restarts_.size();
  last.relinked += relinked_;
  last.residuals_lost += residuals_lost_;
  last.injected_faults += injected_faults_;
  return last;
}

void Restarts::complete(JobOutcome& outcome) const {
  if (made_.empty()) return;
  outcome.record.status = whole(std::move(outcome.record.status));
  RunResult& result = outcome.record.result;
  result.restarts = made_;
  result.first_step = first_step_;
  result.seconds += in_seconds(trained_);
  result.actor_restarts.insert(result.actor_restarts.begin(), actor_restarts_.begin(),
                               actor_restarts_.end());
  result.lost_workers.insert(result.lost_workers.begin(), lost_workers_.begin(),
                             lost_workers_.end());
  result.skipped_evaluations += skipped_ + skipped_steps_.size();
  result.late_packets += late_packets_;
  result.missed_checkpoints += missed_;
  result.missed_copies += missed_copies_;
  result.left_out_examples = std::max(result.left_out_examples, left_out_);
  result.lost_losses += lost_losses_;
  result.lost_histograms += lost_histograms_;
  result.relinked += relinked_;
  result.residuals_lost += residuals_lost_;
  result.injected_faults += injected_faults_;
  result.evaluations.insert(result.evaluations.begin(), evaluations_.begin(), evaluations_.end());
  if (result.exit != kExitFailed) return;
  result.cause =
      fmt::format("{} (after {} from checkpoints; first lost: {})", result.cause,
                  made_.size() == 1 ? "1 restart" : fmt::format("{} restarts", made_.size()),
                  made_.front().cause);
}

}  // namespace sterna::launcher
