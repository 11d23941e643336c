#include "launcher/run/run_ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "actors/weights/trained_weights.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/resume.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

/// Where the run's files are, for who reads it on another machine, or later from another folder.
std::string place_of(const WholeRunOptions& options, const std::string& directory) {
  if (head_is_remote(options.file)) return options.file.cluster.head + ":" + directory;
  return options.detached ? absolute_directory(directory) : directory;
}

/// What a job that trained to its end came to.
std::string in_numbers(const JobOutcome& outcome) {
  const RunResult& result = outcome.record.result;
  // What went before a run was begun again, nobody has counted.
  const std::int64_t first = outcome.record.status.first_step;
  return fmt::format("precision@1 {:.4f} on {} after {} steps{} in {:.1f} s",
                     result.precision_at_1.value_or(0), result.data, thousands(result.steps),
                     first > 0 ? fmt::format(", those from {} on", thousands(first)) : "",
                     result.seconds);
}

/// Of a training that got to its end with numbers that say that it came to nothing.
std::string what_diverged(const RunRecord& record) {
  constexpr double kFarAbove = 2;
  const RunResult& result = record.result;
  if (!result.loss || !result.precision_at_1 || record.guessing_loss <= 0) return "";
  const double loss = *result.loss - result.decay_loss.value_or(0);
  if (loss <= kFarAbove * record.guessing_loss) return "";
  return fmt::format(
      "\nits last loss, {:.4g}, is far above the {:.4g} of guessing: it diverged, or has not "
      "learnt "
      "yet; a lower optimizer.learning_rate usually helps",
      loss, record.guessing_loss);
}

/// Of a training that was interrupted: what of it is not lost.
std::string what_is_kept(const ClusterFile& file, const JobOutcome& outcome) {
  const std::int64_t steps = outcome.record.result.steps;
  if (steps == 0) return "";
  if (!file.checkpoint.on()) return "; its steps are lost, as the file has no [checkpoint]";
  const std::optional<std::uint64_t>& kept = outcome.goes_on_from;
  if (!kept || static_cast<std::int64_t>(*kept) >= steps) return "";
  return fmt::format("; its steps from {} on are lost",
                     thousands(static_cast<std::int64_t>(*kept)));
}

std::string ending(const WholeRunOptions& options, const JobOutcome& outcome) {
  const ClusterFile& file = options.file;
  const RunResult& result = outcome.record.result;
  const StopReport& stop = outcome.stop;
  const std::string place = place_of(options, result.run);
  if (result.exit == kExitDone && !file.trains() && result.awaited.size() < file.actors.size()) {
    const auto done = std::count_if(result.actors.begin(), result.actors.end(),
                                    [](const ActorEnd& actor) { return actor.end == "done"; });
    return fmt::format(
        "{} of {} actors have ended, as program.done_when asks, and the others were stopped; "
        "everything is in {}",
        done, file.actors.size(), place);
  }
  if (result.exit == kExitDone && !file.trains()) {
    return fmt::format("all {} actors have stopped; everything is in {}", file.actors.size(),
                       place);
  }
  if (result.exit == kExitDone) {
    return fmt::format("{}; everything is in {}{}", in_numbers(outcome), place,
                       what_diverged(outcome.record));
  }
  if (!outcome.weights_left.empty()) {
    return fmt::format("{}; all but its weights is in {}\n{}", in_numbers(outcome), place,
                       result.cause);
  }
  if (outcome.interrupted && !file.trains()) {
    return fmt::format("interrupted: {} processes stopped, {} killed; logs are in {}", stop.stopped,
                       stop.killed, place);
  }
  if (outcome.interrupted) {
    const bool trained = result.steps == outcome.record.status.steps;
    const auto weights = std::filesystem::path(result.run) / actors::kWeightsFile;
    std::error_code ignored;
    return fmt::format("interrupted at step {}: {} processes stopped, {} killed; {} in {}{}",
                       thousands(result.steps), stop.stopped, stop.killed,
                       trained && std::filesystem::exists(weights, ignored)
                           ? "its weights and logs are"
                           : "logs are",
                       place, trained ? "" : what_is_kept(file, outcome));
  }
  if (result.steps == 0) return fmt::format("{} (logs are in {}/logs)", result.cause, place);
  // The cause comes last, where it is looked for.
  std::string text = fmt::format("the run failed at step {}; logs are in {}/logs\n",
                                 thousands(result.steps), place);
  for (const std::string& one : result.consequences) text += "  also: " + one + "\n";
  return text + result.cause;
}

}  // namespace

bool may_go_on(const JobOutcome& outcome, const JobOptions& job, bool stuck) {
  if (outcome.record.result.exit == kExitDone) return false;
  if (outcome.interrupted) return outcome.told_to_end;
  if (outcome.lost) return !stuck;
  // It was lost, and what it lost could not be started again.
  return !outcome.started && (job.begun || !job.restarts.empty());
}

std::optional<std::uint64_t> own_checkpoint(const JobOutcome& outcome, const JobOptions& job) {
  if (!job.file.checkpoint.on()) return std::nullopt;
  // In a folder that the file names there may be others'.
  const bool may_be_others = !job.file.checkpoint.folder.empty() && !goes_on_in_place(job.file);
  const bool has_gone_on = !job.restarts.empty() || (job.begun && job.from != nullptr);
  if (may_be_others && outcome.record.result.checkpoint.empty() && !has_gone_on) {
    return std::nullopt;
  }
  const auto newest = newest_with_steps_left(job.checkpoints, job.file.job.net, job.file.job.steps,
                                             false, only_of(job.file, job.identity));
  return newest == nullptr ? std::nullopt : std::optional(newest->manifest.step);
}

void tell_how_it_goes_on(JobOutcome& outcome, const JobOptions& job, bool stuck,
                         const std::string& resume) {
  RunResult& result = outcome.record.result;
  if (result.exit == kExitDone) return;
  const bool goes_on = may_go_on(outcome, job, stuck);
  outcome.goes_on_from = own_checkpoint(outcome, job);
  if (!outcome.goes_on_from) return;
  if (goes_on) result.exit = kExitGoesOn;
  (goes_on || outcome.interrupted ? result.resume : outcome.resume_when_mended) = resume;
}

std::string last_words(const WholeRunOptions& options, const JobOutcome& outcome) {
  const std::string& resume = outcome.record.result.resume;
  std::string words = ending(options, outcome);
  if (!resume.empty()) words += "\nit goes on from its newest checkpoint with\n" + resume;
  if (!outcome.resume_when_mended.empty()) {
    words += "\nonce that is put right, it goes on from its newest checkpoint with\n" +
             outcome.resume_when_mended;
  }
  return words;
}

}  // namespace sterna::launcher
