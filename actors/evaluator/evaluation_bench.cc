#include "actors/evaluator/evaluation_bench.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "actors/job/device_fit.h"
#include "actors/reader/data_folder.h"
#include "actors/reader/preparation.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "nets/net_options.h"

namespace sterna::actors {
namespace {

Result<std::string> folder_of(const JobConfig& job, const std::string& subset) {
  return subset == kTrainSubset ? training_folder(job.data, std::nullopt) : test_folder(job.data);
}

Result<EvaluationBench::Subset> open_subset(const JobConfig& job, const std::string& name) {
  const bool train = name == kTrainSubset;
  EvaluationBench::Subset subset{.name = name, .source = nullptr, .how = {}};
  STERNA_ASSIGN(const std::string folder, folder_of(job, name));
  STERNA_ASSIGN(subset.source,
                input::open_data(folder, train ? input::Split::train : input::Split::test,
                                 data_options(job.data, job.seed)));
  STERNA_ASSIGN(subset.how,
                preparation_of(job, subset.source->facts(), subset.source->facts().count));
  return subset;
}

MadeOnDevices made_on(const std::shared_ptr<kernels::Device>& device,
                      const nets::NetOptions& options) {
  return {.net = options.name,
          .key = "evaluator.batch",
          .sizes = {.batch = static_cast<std::uint32_t>(options.batch)},
          .devices = {device},
          .make = [options](const BatchSizes& sizes, const MadeOnDevices::Devices& on) {
            nets::NetOptions other = options;
            other.batch = sizes.batch;
            other.backend.device = on.front();
            const auto net = nets::make_net(other);
            return net ? Result<void>() : net.error();
          }};
}

}  // namespace

Result<EvaluationBench> EvaluationBench::make(const JobConfig& job,
                                              std::shared_ptr<kernels::Device> device) {
  EvaluationBench bench;
  nets::NetOptions options = net_options(job);
  options.batch = job.evaluation.batch;
  options.micro_batch = 0;
  options.trains = false;
  if (device != nullptr) {
    options.backend.name = "device";
    options.backend.device = device;
  }
  auto made = nets::make_net(options);
  if (!made && device != nullptr) return memory_error(made.error(), made_on(device, options));
  STERNA_ASSIGN(bench.net, std::move(made));
  for (const std::string& name : job.evaluation.subsets) {
    STERNA_ASSIGN(Subset subset, open_subset(job, name));
    bench.subsets.push_back(std::move(subset));
  }
  const std::string& main = main_subset(job.evaluation);
  std::stable_partition(bench.subsets.begin(), bench.subsets.end(),
                        [&](const Subset& subset) { return subset.name != main; });
  STERNA_ASSIGN(const std::string folder, folder_of(job, main));
  if (std::error_code ignored; std::filesystem::exists(folder, ignored)) {
    STERNA_ASSIGN(auto labels, input::class_names(folder, data_options(job.data, job.seed)));
    bench.labels = std::move(labels).value_or(input::ClassLabels{});
  }
  return bench;
}

std::uint64_t examples_of(const JobConfig& job, const std::string& subset, std::uint64_t version) {
  if (subset == kTrainSubset) return job.evaluation.train_examples;
  return version == job.steps ? std::numeric_limits<std::uint64_t>::max() : job.evaluation.examples;
}

Result<Evaluation> evaluate_parameters(const JobConfig& job, const std::string& subset,
                                       std::uint64_t examples,
                                       const std::function<Result<void>(nets::Net& net)>& fill,
                                       std::shared_ptr<kernels::Device> device) {
  JobConfig alone = job;
  alone.evaluation.subsets = {subset};
  STERNA_ASSIGN(const EvaluationBench bench, EvaluationBench::make(alone, std::move(device)));
  STERNA_TRY(fill(*bench.net));
  return bench.evaluate(bench.subsets.front(), examples);
}

}  // namespace sterna::actors
