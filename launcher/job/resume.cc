#include "launcher/job/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "actors/checkpoint/checkpoint_folder.h"
#include "actors/weights/model_note.h"
#include "actors/weights/trained_weights.h"
#include "kernels/optimizer/schedule.h"
#include "launcher/job/job_plan.h"
#include "launcher/record/run_directory.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/environment.h"
#include "launcher/text/shell_word.h"
#include "launcher/view/read_result.h"
#include "nets/describe_net.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

/// Where its own checkpoints lie.
std::string own_folder(const ClusterFile& file, const std::string& run_dir) {
  if (!file.checkpoint.folder.empty()) return expand_home(file.checkpoint.folder);
  return (std::filesystem::path(run_dir) / actors::kCheckpointFolder).string();
}

Result<actors::SavedCheckpoint> find(const ClusterFile& file, const std::string& run_dir) {
  const TrueOrText& resume = file.checkpoint.resume;
  if (!resume.text.empty()) return actors::open_checkpoint(expand_home(resume.text));
  if (run_dir.empty()) {
    return Error{Errc::invalid_argument,
                 "checkpoint.resume = true goes on in the run's own directory: say which with "
                 "--run-dir, or set checkpoint.resume to the path of a run or checkpoint"};
  }
  const std::string folder = own_folder(file, run_dir);
  if (actors::find_checkpoints(folder).empty()) {
    return Error{Errc::not_found, folder + ": there is no checkpoint yet"};
  }
  return actors::open_checkpoint(folder, run_to_resume(file, run_dir));
}

/// Whether the run in this directory has said how it ended, with this step or a later one.
bool has_ended(const std::string& run_dir, std::uint64_t step) {
  const Result<Json> result = read_result(run_dir);
  return result && json_number_of(*result, "exit") == 0 &&
         json_number_of(*result, "steps").value_or(-1) >= static_cast<double>(step);
}

}  // namespace

Result<std::optional<input::FolderLock>> take_checkpoint_folder(const ClusterFile& file) {
  using Taken = std::optional<input::FolderLock>;
  if (!file.trains() || !file.checkpoint.on() || file.checkpoint.folder.empty()) return Taken();
  const std::string folder = expand_home(file.checkpoint.folder);
  constexpr const char* kElsewhere = "name another, or none for one in the run's directory";
  const Result<void> tried = make_writable_folder(folder);
  if (!tried) {
    return Error{Errc::invalid_argument,
                 fmt::format("checkpoint.folder: {}; {}", tried.error().message, kElsewhere)};
  }
  Result<input::FolderLock> lock = input::FolderLock::take(folder);
  if (lock) return Taken(std::move(*lock));
  if (lock.error().code != Errc::already_exists) {
    return std::move(lock).error().in("checkpoint.folder");
  }
  return Error{Errc::already_exists,
               fmt::format("checkpoint.folder: {}: another run keeps its checkpoints there now; {}",
                           folder, kElsewhere)};
}

std::string folder_to_resume(const ClusterFile& file, const std::string& run_dir) {
  const std::string& named = file.checkpoint.resume.text;
  return named.empty() ? own_folder(file, run_dir) : actors::checkpoints_in(expand_home(named));
}

std::shared_ptr<const actors::SavedCheckpoint> newest_with_steps_left(const std::string& folder,
                                                                      const std::string& net,
                                                                      std::uint64_t steps,
                                                                      bool contents,
                                                                      const std::string& run) {
  std::vector<actors::FoundCheckpoint> there = actors::find_checkpoints(folder, run);
  std::ranges::reverse(there);
  for (const actors::FoundCheckpoint& found : there) {
    if (!found.manifest || found.manifest->net != net) continue;
    actors::SavedCheckpoint saved{found.folder, *found.manifest};
    if (saved.manifest.step >= steps || !actors::check_parts(saved, contents)) continue;
    return std::make_shared<const actors::SavedCheckpoint>(std::move(saved));
  }
  return nullptr;
}

std::string own_command() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::canonical("/proc/self/exe", failed);
  if (failed) return "sterna";  // another build has taken its place
  std::istringstream folders(environment("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto found = std::filesystem::canonical(std::filesystem::path(folder) / "sterna", failed);
    if (failed || !std::filesystem::is_regular_file(found, failed)) continue;
    if (found == self) return "sterna";
    break;  // another one comes first
  }
  return shell_word(self.string());
}

std::string with_resume(const std::string& starts_it, const std::string& run_directory) {
  return fmt::format("{} --run-dir {} --set checkpoint.resume=true", starts_it,
                     shell_word(run_directory));
}

std::string resume_command(const std::string& command, const std::string& run_directory) {
  return with_resume(fmt::format("{} {} {}", own_command(), command,
                                 shell_word(run_directory + "/" + std::string(kResolvedFile))),
                     run_directory);
}

bool goes_on_in_place(const ClusterFile& file) {
  return file.checkpoint.resume.given && file.checkpoint.resume.text.empty();
}

namespace {

/// Whether a run without a checkpoint may begin in this directory: what lies there is replaced.
Result<void> check_may_begin(const std::string& run_dir, const ClusterFile& file) {
  std::error_code failed;
  if (std::filesystem::is_empty(run_dir, failed) || failed) return {};  // or it is not there
  const char* const why = has_ended(run_dir, 0) ? "there is a run that has ended, and no checkpoint"
                          : run_identity(run_dir) ? nullptr
                                                  : "it is no run's directory, and not empty";
  if (why == nullptr) return {};
  return Error{Errc::already_exists,
               fmt::format("{}{}: {}; give another --run-dir",
                           goes_on_in_place(file) ? "checkpoint.resume: " : "the run directory ",
                           run_dir, why)};
}

/// Whether the run in this directory made the checkpoint.
bool made_in(const std::string& run_dir, const actors::SavedCheckpoint& from) {
  const std::filesystem::path folder = absolute_directory(from.folder);
  const std::filesystem::path own = std::filesystem::path(run_dir) / actors::kCheckpointFolder;
  std::error_code ignored;
  if (std::filesystem::equivalent(folder.parent_path(), own, ignored)) return true;
  return !from.manifest.run.empty() && from.manifest.run == run_identity(run_dir);
}

}  // namespace

Result<void> check_may_write_into(const std::string& run_dir, const ClusterFile& file,
                                  const actors::SavedCheckpoint* from) {
  if (from != nullptr && made_in(run_dir, *from)) return {};
  return check_may_begin(run_dir, file);
}

std::string only_of(const ClusterFile& file, const std::string& identity) {
  return file.checkpoint.folder.empty() ? "" : identity;
}

std::string run_to_resume(const ClusterFile& file, const std::string& run_dir) {
  if (!goes_on_in_place(file) || file.checkpoint.folder.empty()) return "";
  const std::string own = run_identity(run_dir).value_or("");
  return actors::find_checkpoints(own_folder(file, run_dir), own).empty() ? "" : own;
}

ClusterFile begun_again(ClusterFile file, const std::string& run_dir) {
  if (file.gradient.codec == actors::kAutoCodec) {
    // What was chosen once stays chosen: another choice would give other bits.
    const auto before =
        read_cluster_file((std::filesystem::path(run_dir) / std::string(kResolvedFile)).string());
    if (before) file.gradient = before->gradient;
  }
  if (!file.checkpoint.folder.empty() && !goes_on_in_place(file)) {
    const std::string own = run_identity(run_dir).value_or("");
    const auto newest = own.empty() ? nullptr
                                    : newest_with_steps_left(own_folder(file, run_dir),
                                                             file.job.net, UINT64_MAX, true, own);
    if (newest != nullptr) file.checkpoint.resume = {.given = true, .text = newest->folder};
    return file;
  }
  const auto there = actors::find_checkpoints(own_folder(file, run_dir));
  const bool any = std::ranges::any_of(
      there, [](const actors::FoundCheckpoint& one) { return one.manifest.ok(); });
  if (any || file.checkpoint.resume.text.empty()) file.checkpoint.resume = {.given = true};
  return file;
}

Result<std::shared_ptr<const actors::SavedCheckpoint>> checkpoint_to_resume(
    const ClusterFile& file, const std::string& run_dir) {
  using Found = std::shared_ptr<const actors::SavedCheckpoint>;
  if (!file.trains() || !file.checkpoint.resume.given) return Found();
  Result<actors::SavedCheckpoint> found = find(file, run_dir);
  if (!found && goes_on_in_place(file) && found.error().code == Errc::not_found) {
    STERNA_TRY(check_may_begin(run_dir, file));
    return Found();
  }
  if (!found) return Error(found.error()).in("checkpoint.resume");
  const actors::Manifest& manifest = found->manifest;
  if (manifest.net != file.job.net) {
    return Error{Errc::invalid_argument,
                 fmt::format("checkpoint.resume: {} is of the net {}, and job.net is {}",
                             found->folder, manifest.net, file.job.net)};
  }
  if (manifest.step >= file.job.steps) {
    if (goes_on_in_place(file) && !has_ended(run_dir, manifest.step)) {
      auto before = newest_with_steps_left(own_folder(file, run_dir), file.job.net, file.job.steps,
                                           true, run_to_resume(file, run_dir));
      if (before != nullptr) return before;
    }
    const bool epochs = file.job.epochs > 0;
    const std::string end = epochs ? fmt::format("job.epochs = {} are over there", file.job.epochs)
                                   : fmt::format("job.steps is {}", file.job.steps);
    return Error{
        Errc::invalid_argument,
        fmt::format("checkpoint.resume: {} is of step {}, and {}: there is nothing left to train; "
                    "raise job.{} to go on, or take it as it is (`sterna eval`, `predict` and "
                    "`export`)",
                    found->folder, manifest.step, end, epochs ? "epochs" : "steps")};
  }
  return Found(std::make_shared<const actors::SavedCheckpoint>(std::move(*found)));
}

actors::JobConfig going_on_from(const actors::SavedCheckpoint* from, actors::JobConfig job) {
  if (from == nullptr) return job;
  job.first_step = from->manifest.step;
  job.first_position = from->manifest.position;
  job.resumes = true;
  return job;
}

Result<actors::KeeperSetup> keeper_setup_of(const ClusterFile& file, const actors::JobConfig& job,
                                            const input::DataLocation& data,
                                            const actors::SavedCheckpoint* from,
                                            const std::string& folder) {
  actors::KeeperSetup setup;
  setup.job = job;
  setup.folder = folder;
  STERNA_ASSIGN(const actors::ModelNote note, note_of_job(job, data));
  setup.note = to_metadata(note);
  setup.servers = file.names_of_servers();
  if (!job.exchanges_within()) setup.workers = file.names_of(Role::kWorker);
  setup.is_evaluated = file.count(Role::kEvaluator) > 0;
  if (from != nullptr) {
    STERNA_ASSIGN(actors::SavedState state, actors::SavedState::open(*from));
    setup.state = std::make_shared<const actors::SavedState>(std::move(state));
  }
  return setup;
}

std::vector<std::string> passed_over(const ClusterFile& file,
                                     const actors::SavedCheckpoint& found) {
  std::vector<std::string> lines;
  if (expand_home(file.checkpoint.resume.text) == found.folder) return lines;
  for (const std::string& why : actors::damaged_after(found)) {
    lines.push_back("not gone on from: " + why);
  }
  return lines;
}

namespace {

Error other_classes(const std::string& why) {
  return {Errc::invalid_argument,
          fmt::format(
              "checkpoint.resume: {}; give the data that it was trained on, or begin anew with its "
              "weights, but for the last layer (`sterna export`, then init.from and "
              "init.skip)",
              why)};
}

/// A key of a job, "data.name", and its value as TOML.
struct Setting {
  std::string key;
  std::string value;
  bool operator==(const Setting&) const = default;
};

/// Keys of which the parameters after a step are no function, or in their last bits alone.
bool teaches_nothing(std::string_view key) {
  constexpr std::array<std::string_view, 17> kNothing{
      "job.net",           "job.steps",      "job.epochs",        "job.micro_batch",
      "job.threads",       "job.cpu_isa",    "data.test_files",   "data.threads",
      "data.memory",       "data.most_bad",  "init.from",         "init.names",
      "init.skip",         "gradient.allow", "gradient.exchange", "gradient.check_every",
      "gradient.residuals"};
  return std::ranges::find(kNothing, key) != kNothing.end();
}

/// Whether the learning rate of a step is another one where the job ends later.
bool goes_by_the_end(const actors::OptimizerSection& optimizer) {
  const auto schedule = kernels::find_schedule(optimizer.schedule);
  if (!schedule) return false;
  const auto rate = [&](std::uint64_t steps) {
    return schedule->over({.initial = 1, .steps = steps}, optimizer.numbers)(1);
  };
  return rate(2) != rate(4);
}

template <class S>
void append(std::vector<Setting>& settings, const Section<S>& section, const S& values) {
  for (const Key<S>& key : section.keys) {
    std::string name = fmt::format("{}.{}", section.name, key.name);
    if (!teaches_nothing(name)) settings.push_back({std::move(name), toml_text(key, values)});
  }
}

/// What a net learns from, in the order of files.
std::vector<Setting> settings_of(const ClusterFile& file) {
  std::vector<Setting> settings;
  append(settings, actors::job_section(), file.job);
  append(settings, actors::data_section(), file.data);
  append(settings, actors::net_section(), file.net_choices);
  append(settings, actors::init_section(), file.init);
  append(settings, actors::scheme_section(), file.scheme);
  append(settings, actors::optimizer_section(), file.optimizer);
  append(settings, actors::local_optimizer_section(), file.local_optimizer);
  append(settings, actors::gradient_section(), file.gradient);
  if (goes_by_the_end(file.optimizer)) {
    settings.push_back({"job.steps", std::to_string(file.job.steps)});
  }
  settings.push_back({"ranks", std::to_string(file.ranks())});
  return settings;
}

}  // namespace

std::vector<std::string> changes_since(const actors::SavedCheckpoint& from,
                                       const ClusterFile& file) {
  const Result<ClusterFile> before = parse_cluster_file(from.manifest.resolved, from.folder);
  if (!before || !before->trains()) return {};
  const std::vector<Setting> old = settings_of(*before);
  // What it chose is in no checkpoint.
  const bool chosen = before->gradient.codec == actors::kAutoCodec;
  std::vector<std::string> changes;
  for (const Setting& now : settings_of(file)) {
    const auto was = std::ranges::find(old, now.key, &Setting::key);
    if (was == old.end() || *was == now) continue;
    if (chosen && (now.key == "gradient.codec" || now.key == "gradient.tensors")) continue;
    changes.push_back(fmt::format("{} {} -> {}", now.key, was->value, now.value));
  }
  return changes;
}

Result<void> check_same_net(const actors::SavedCheckpoint& from, const ClusterFile& file,
                            const input::DataLocation& data) {
  STERNA_ASSIGN(const actors::JobConfig job, job_of(file, data));
  const Result<actors::ModelNote> note = actors::note_from(from.manifest.note, from.folder);
  if (note) {
    if (note->classes != job.classes) {
      return other_classes(fmt::format("{} is of {} classes, and this job has {}", from.folder,
                                       note->classes, job.classes));
    }
    STERNA_ASSIGN(const actors::ModelNote own, note_of_job(job, data));
    const auto other = actors::first_other_class(*note, from.folder, own, data.dir.string());
    if (other) return other_classes(*other);
  }
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(actors::net_options(job)));
  STERNA_ASSIGN(const actors::TrainedWeights weights,
                actors::TrainedWeights::open(from, actors::ValuesOf::parameters));
  const Result<void> whole = weights.check(job.net, net.parameters);
  if (whole) return {};
  return Error{Errc::invalid_argument, "checkpoint.resume: " + whole.error().message};
}

}  // namespace sterna::launcher
