#include "actors/evaluator/evaluator.h"

#include <cstring>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "actors/reader/data_folder.h"
#include "input/place/data_set.h"
#include "nets/weights/weights_file.h"

namespace sterna::actors {

void Evaluator::started() { run(evaluate_job()); }

Result<std::shared_ptr<Evaluator::Bench>> Evaluator::make_bench(const JobConfig& job) {
  auto bench = std::make_shared<Bench>();
  STERNA_ASSIGN(
      bench->net,
      nets::make_net({.name = job.net,
                      .hidden = job.hidden,
                      .batch = job.evaluation.batch,
                      .backend = {.threads = static_cast<int>(job.threads), .isa = job.cpu_isa}}));
  STERNA_ASSIGN(const std::string folder, test_folder(job.data));
  STERNA_ASSIGN(bench->dataset, input::load_data(folder, input::Split::test));
  return bench;
}

Task<Result<void>> Evaluator::evaluate_job() {
  const JobConfig& job = args_.job;
  STERNA_CO_TRY(prepare());
  std::uint64_t version = job.first_step;
  while (version < job.steps) {
    version = job.next_evaluation(version);
    Result<void> evaluated = co_await evaluate_version(version);
    STERNA_CO_TRY(std::move(evaluated).in(fmt::format("evaluating step {}", version)));
  }
  co_return co_await finish();
}

Task<Result<void>> Evaluator::prepare() {
  const Duration patience = args_.job.deadlines.start;
  STERNA_CO_ASSIGN(servers_,
                   find_peers<ParameterServerInterface>(*this, args_.servers, patience, finder_));
  STERNA_CO_TRY(observer_.emplace(*this, args_.observer, patience, finder_).find());
  STERNA_CO_ASSIGN(bench_, compute([job = args_.job] { return make_bench(job); }));
  table_ = ParameterTable(bench_->net->parameters(), args_.job,
                          static_cast<std::uint32_t>(servers_.size()));
  co_return {};
}

Task<Result<void>> Evaluator::evaluate_version(std::uint64_t version) {
  STERNA_CO_TRY(take_version(version));
  for (auto& server : servers_) server.tell(Release{version});
  const std::uint64_t examples = version == args_.job.steps
                                     ? std::numeric_limits<std::uint64_t>::max()
                                     : args_.job.evaluation.examples;
  STERNA_CO_ASSIGN(const Evaluation evaluation, compute([bench = bench_, examples] {
                     return evaluate(*bench->net, bench->dataset, examples);
                   }));
  observer_->tell(Evaluated{.step = version,
                            .precision_at_1 = evaluation.precision_at_1,
                            .loss = evaluation.loss,
                            .examples = evaluation.examples});
  co_return {};
}

Task<Result<void>> Evaluator::take_version(std::uint64_t version) {
  const auto groups = table_.pull_groups();
  const auto question = [&](const ParameterTable::PullGroup& group) {
    return Pull{.version = version, .chunks = group.chunks};
  };
  const auto pull = [&](const ParameterTable::PullGroup& group) {
    return servers_[group.shard].ask(question(group), args_.job.deadlines.step);
  };
  std::deque<Task<Result<Parameters>>> answers;
  for (const auto& group : groups) answers.push_back(pull(group));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Result<Parameters> parameters = co_await std::move(answers[i]);
    // The version lies in the future, perhaps by minutes: not yet is no failure. Whether training
    // still goes on is for the workers' deadlines, and a server's death ends the ask.
    while (!parameters && parameters.error().code == Errc::deadline) {
      Task<Result<Parameters>> again = pull(groups[i]);
      parameters = co_await std::move(again);
    }
    Result<void> written =
        parameters ? write(*parameters, question(groups[i])) : Result<void>(parameters.error());
    STERNA_CO_TRY(std::move(written).in(servers_[groups[i].shard].name()));
  }
  for (std::size_t t = 0; t < table_.tensors.size(); ++t) bench_->net->parameters_changed(t);
  co_return {};
}

Result<void> Evaluator::write(const Parameters& parameters, const Pull& question) {
  BufferPool pool;  // fp32 needs none
  STERNA_ASSIGN(const Parameters opened,
                open_answer(parameters, question, table_, args_.job, pool, kernels::Isa::scalar));
  for (const ParameterChunk& chunk : opened.chunks) {
    const TableChunk& place = table_.chunks[chunk.chunk];
    std::memcpy(bench_->net->parameter(place.tensor).data() + place.first, chunk.payload.data(),
                chunk.payload.size());
  }
  return {};
}

Task<Result<void>> Evaluator::finish() {
  auto hashed =
      compute([bench = bench_, path = args_.weights, job = args_.job]() -> Result<std::string> {
        if (!path.empty()) {
          std::vector<std::span<const float>> values;
          for (std::size_t t = 0; t < bench->net->parameters().size(); ++t) {
            values.emplace_back(bench->net->parameter(t));
          }
          STERNA_TRY(nets::write_safetensors(
              path, bench->net->parameters(), values,
              {{"format", "1"}, {"net", job.net}, {"steps", std::to_string(job.steps)}}));
        }
        return parameters_sha256(*bench->net);
      });
  Result<std::string> hash = co_await std::move(hashed);
  STERNA_CO_ASSIGN(const std::string sha256, std::move(hash).in("writing the final weights"));
  observer_->tell(JobFinished{
      .parameters_sha256 = sha256, .weights = args_.weights, .parameters = table_.elements});
  co_return {};
}

}  // namespace sterna::actors
