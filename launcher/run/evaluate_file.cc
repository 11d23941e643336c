#include "launcher/run/evaluate_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include "actors/evaluator/evaluation_bench.h"
#include "actors/weights/model_note.h"
#include "input/place/data_set.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/run/job_plan.h"
#include "launcher/run/run_data.h"
#include "launcher/text/text_format.h"
#include "nets/weights/weights_file.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

Error unfit(const std::string& path, const std::string& what) {
  return {Errc::invalid_argument, fmt::format("{}: {}", path, what)};
}

/// The file itself, where a run's directory is given.
std::string weights_path(const std::string& given) {
  std::error_code ignored;
  return fs::is_directory(given, ignored) ? (fs::path(given) / "weights.safetensors").string()
                                          : given;
}

/// The cluster file that says what the weights are of, if one does.
std::optional<std::string> config_path(const EvaluateFileOptions& options,
                                       const std::string& weights) {
  if (!options.config.empty()) return options.config;
  const fs::path beside = fs::path(weights).parent_path() / "resolved.toml";
  std::error_code ignored;
  if (fs::exists(beside, ignored)) return beside.string();
  return std::nullopt;
}

struct Job {
  actors::JobConfig config;
  input::DataLocation data;
};

/// As a run of the file would have it.
Result<Job> job_of_file(const std::string& path, const std::string& data, const Console& console) {
  STERNA_ASSIGN(const ClusterFile file, read_cluster_file(path));
  if (!file.trains()) return unfit(path, "it trains no net");
  Job job;
  STERNA_ASSIGN(job.data, find_run_data(data, file, console));
  STERNA_ASSIGN(job.config, job_of(file, job.data));
  return job;
}

Result<Job> job_of_note(const actors::ModelNote& note, const std::string& data,
                        const Console& console) {
  ClusterFile file;
  file.data = note.data;
  Job job;
  STERNA_ASSIGN(job.data, find_run_data(data, file, console));
  job.config = note.as_job();
  job.config.data.name = job.data.name;
  job.config.data.dir = job.data.folder().string();
  return job;
}

/// Fills the net from the file, which must have exactly its tensors.
Result<void> load(nets::Net& net, const nets::WeightsFile& file, const std::string& path,
                  const std::string& name) {
  std::map<std::string_view, const nets::NamedTensor*> unread;
  for (const nets::NamedTensor& tensor : file.tensors) unread[tensor.name] = &tensor;
  const auto read = [&](const nets::ParameterSpec& spec, std::span<float> values) -> Result<void> {
    const auto found = unread.find(spec.name);
    if (found == unread.end()) {
      return unfit(path, fmt::format("it has no tensor \"{}\", which {} has", spec.name, name));
    }
    const nets::NamedTensor& tensor = *found->second;
    if (tensor.shape != spec.shape) {
      return unfit(path,
                   fmt::format("\"{}\" is {}; in {} it is {}", spec.name,
                               fmt::join(tensor.shape, " x "), name, fmt::join(spec.shape, " x ")));
    }
    std::ranges::copy(tensor.values, values.begin());
    unread.erase(found);
    return {};
  };
  STERNA_TRY(actors::read_parameters(net, read));
  if (unread.empty()) return {};
  return unfit(path, fmt::format("it has a tensor \"{}\", which {} has not",
                                 printable(std::string(unread.begin()->first)), name));
}

}  // namespace

Result<FileEvaluation> evaluate_file(const EvaluateFileOptions& options, const Console& console) {
  FileEvaluation result;
  result.weights = weights_path(options.weights);
  STERNA_ASSIGN(const nets::WeightsFile weights, nets::read_safetensors(result.weights));
  const std::optional<std::string> config = config_path(options, result.weights);
  const Result<actors::ModelNote> note = actors::note_from(weights.metadata, result.weights);
  if (!config && !note) return note.error().in("without a cluster file (--config)");
  STERNA_ASSIGN(const Job found, config ? job_of_file(*config, options.data, console)
                                        : job_of_note(*note, options.data, console));
  const actors::JobConfig& job = found.config;
  const std::uint64_t examples =
      options.examples > 0 ? options.examples : actors::examples_of(job, options.subset, job.steps);
  const auto fill = [&](nets::Net& net) { return load(net, weights, result.weights, job.net); };
  STERNA_ASSIGN(result.evaluation,
                actors::evaluate_parameters(job, options.subset, examples, fill));
  result.net = job.net;
  result.data = input::told_name(found.data.dir, found.data.name);
  result.classes = job.classes;
  if (note) {
    result.steps = note->steps;
    result.averages = note->average_decay > 0;
  }
  return result;
}

}  // namespace sterna::launcher
