#include "launcher/commands/weights/evaluate_weights.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "actors/checkpoint/manifest.h"
#include "actors/evaluator/evaluation_bench.h"
#include "actors/reader/data_folder.h"
#include "actors/weights/model_note.h"
#include "actors/weights/read_parameters.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/job_plan.h"
#include "launcher/run/run_data.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

struct FoundJob {
  actors::JobConfig config;
  input::DataLocation data;
};

/// The cluster file that says what the weights are of, if one does.
Result<std::optional<ClusterFile>> file_of(const actors::TrainedWeights& weights,
                                           const std::string& given) {
  std::string path = given;
  if (path.empty() && !weights.resolved().empty()) {
    path = (fs::path(weights.path()) / actors::kManifestFile).string();
    STERNA_ASSIGN(ClusterFile kept, parse_cluster_file(weights.resolved(), path));
    return std::optional(std::move(kept));
  }
  if (path.empty()) {
    path = (fs::path(weights.path()).parent_path() / "resolved.toml").string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return std::optional<ClusterFile>();
  }
  STERNA_ASSIGN(ClusterFile file, read_cluster_file(path));
  return std::optional(std::move(file));
}

/// As a run of the file would have it.
Result<FoundJob> job_of_file(const ClusterFile& file, const std::string& data,
                             const Console& console) {
  if (!file.trains()) return Error{Errc::invalid_argument, "its cluster file trains no net"};
  FoundJob job;
  Result<input::DataLocation> found = find_run_data(data, file, console);
  // The run may have been elsewhere.
  if (!found && data.empty() && found.error().code == Errc::not_found) {
    return Error{Errc::not_found, found.error().message + "; or say with --data where it is"};
  }
  STERNA_ASSIGN(job.data, std::move(found));
  STERNA_ASSIGN(job.config, job_of(file, job.data));
  return job;
}

Result<FoundJob> job_of_note(const actors::ModelNote& note, const std::string& data,
                             const Console& console) {
  ClusterFile file;
  file.data = note.data;
  FoundJob job;
  STERNA_ASSIGN(job.data, find_run_data(data, file, console));
  job.config = note.as_job();
  job.config.data.name = job.data.name;
  job.config.data.dir = job.data.folder().string();
  return job;
}

Result<FoundJob> job_of_weights(const actors::TrainedWeights& weights,
                                const EvaluateOptions& options, const Console& console) {
  STERNA_ASSIGN(const std::optional<ClusterFile> file, file_of(weights, options.config));
  if (file) return job_of_file(*file, options.data, console).in(weights.path());
  const Result<actors::ModelNote> note = weights.note();
  if (!note) return note.error().in("without a cluster file (--config)");
  return job_of_note(*note, options.data, console);
}

/// Of data whose classes have other names than those of the weights, or stand in another order,
/// every number would be wrong.
Result<void> check_classes(const actors::TrainedWeights& weights, const FoundJob& found) {
  const Result<actors::ModelNote> note = weights.note();
  if (!note) return {};  // then nothing says what its classes are called
  STERNA_ASSIGN(const actors::ModelNote own, note_of_job(found.config, found.data));
  const auto other = actors::first_other_class(*note, weights.path(), own, found.data.dir.string());
  if (!other) return {};
  return Error{Errc::invalid_argument,
               *other + "; evaluate the weights on data of the same classes, in the same order"};
}

/// What the classes are called: as the data say, or else the weights.
Result<input::ClassLabels> names_of(const actors::TrainedWeights& weights, const FoundJob& found) {
  const actors::JobConfig& job = found.config;
  STERNA_ASSIGN(auto names,
                input::class_names(found.data.dir, actors::data_options(job.data, job.seed)));
  if (names) return *std::move(names);
  const Result<actors::ModelNote> note = weights.note();
  if (!note) return input::ClassLabels();
  return input::ClassLabels{note->labels, static_cast<std::uint16_t>(note->first_label)};
}

}  // namespace

Result<WeightsEvaluation> evaluate_weights(const actors::TrainedWeights& weights,
                                           const EvaluateOptions& options, const Console& console) {
  STERNA_ASSIGN(const FoundJob found, job_of_weights(weights, options, console));
  const actors::JobConfig& job = found.config;
  STERNA_TRY(check_classes(weights, found));
  const std::uint64_t examples =
      options.examples > 0 ? options.examples : actors::examples_of(job, options.subset, job.steps);
  const auto fill = [&](nets::Net& net) -> Result<void> {
    STERNA_TRY(weights.check(job.net, net.parameters()));
    if (const auto other = weights.beside(net.parameters())) {
      return Error{Errc::invalid_argument,
                   fmt::format("{}: it has a tensor \"{}\", which {} has not", weights.path(),
                               *other, job.net)};
    }
    return actors::read_parameters(net,
                                   [&](const nets::ParameterSpec& spec, std::span<float> values) {
                                     return weights.read(spec, values);
                                   });
  };
  WeightsEvaluation result;
  STERNA_ASSIGN(result.evaluation,
                actors::evaluate_parameters(job, options.subset, examples, fill, options.device));
  result.weights = weights.path();
  result.net = job.net;
  result.data = input::told_name(found.data.dir, found.data.name);
  result.classes = job.classes;
  STERNA_ASSIGN(result.names, names_of(weights, found));
  result.steps = weights.steps();
  result.last_step = job.steps;
  result.averages = weights.averages();
  return result;
}

}  // namespace sterna::launcher
