#include "actors/evaluator/evaluator.h"

#include <cstring>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "actors/reader/data_folder.h"
#include "input/formats/idx.h"
#include "nets/weights/weights_file.h"

namespace sterna::actors {

void Evaluator::started() { run(evaluate_job()); }

Result<std::shared_ptr<Evaluator::Bench>> Evaluator::make_bench(const JobConfig& job) {
  auto bench = std::make_shared<Bench>();
  STERNA_ASSIGN(bench->net, nets::make_net({.name = job.net,
                                            .hidden = job.hidden,
                                            .batch = job.evaluation.batch,
                                            .threads = static_cast<int>(job.threads),
                                            .isa = job.isa}));
  STERNA_ASSIGN(const std::string folder, test_folder(job.data));
  STERNA_ASSIGN(bench->dataset, input::load_mnist(folder, input::Split::test));
  return bench;
}

Task<void> Evaluator::evaluate_job() {
  const JobConfig& job = args_.job;
  Result<void> outcome = co_await prepare();
  for (std::uint64_t version = job.next_evaluation(0); outcome;
       version = job.next_evaluation(version)) {
    outcome = co_await evaluate_version(version);
    if (!outcome) outcome = Error(outcome.error()).in(fmt::format("evaluating step {}", version));
    if (version == job.steps) break;
  }
  if (outcome) outcome = co_await finish();
  if (!outcome) fail(outcome.error().message);
}

Task<Result<void>> Evaluator::prepare() {
  const Duration patience = args_.job.deadlines.find;
  auto servers =
      co_await find_peers<ParameterServerInterface>(finder_, process(), args_.servers, patience);
  if (!servers) co_return std::move(servers).error();
  servers_ = std::move(servers).value();
  auto observer = co_await find_peer<Observer>(finder_, process(), args_.observer, patience);
  if (!observer) co_return std::move(observer).error();
  observer_ = *observer;
  auto made = compute([job = args_.job] { return make_bench(job); });
  auto bench = co_await std::move(made);
  if (!bench) co_return std::move(bench).error();
  bench_ = std::move(bench).value();
  table_ = ParameterTable(bench_->net->parameters(), args_.job,
                          static_cast<std::uint32_t>(servers_.size()));
  co_return Result<void>{};
}

Task<Result<void>> Evaluator::evaluate_version(std::uint64_t version) {
  Result<void> taken = co_await take_version(version);
  if (!taken) co_return taken;
  for (const auto& server : servers_) tell(server, Release{version});
  const std::uint64_t examples = version == args_.job.steps
                                     ? std::numeric_limits<std::uint64_t>::max()
                                     : args_.job.evaluation.examples;
  auto evaluated = compute(
      [bench = bench_, examples] { return evaluate(*bench->net, bench->dataset, examples); });
  const Result<Evaluation> evaluation = co_await std::move(evaluated);
  if (!evaluation) co_return evaluation.error();
  tell(observer_, Evaluated{.step = version,
                            .precision_at_1 = evaluation->precision_at_1,
                            .loss = evaluation->loss,
                            .examples = evaluation->examples});
  co_return Result<void>{};
}

Task<Result<void>> Evaluator::take_version(std::uint64_t version) {
  const auto groups = table_.pull_groups();
  const auto question = [&](const ParameterTable::PullGroup& group) {
    return Pull{.version = version, .chunks = group.chunks};
  };
  const auto pull = [&](const ParameterTable::PullGroup& group) {
    return ask(servers_[group.shard], question(group), args_.job.deadlines.ask);
  };
  std::deque<Future<Parameters>> answers;
  for (const auto& group : groups) answers.push_back(pull(group));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Future<Parameters>& answer = answers[i];
    Result<Parameters> parameters = co_await answer;
    // The version lies in the future, perhaps by minutes: not yet is no failure. Whether training
    // still goes on is for the workers' deadlines, and a server's death ends the ask.
    while (!parameters && parameters.error().code == Errc::deadline) {
      answer = pull(groups[i]);
      parameters = co_await answer;
    }
    Result<void> written =
        parameters ? write(*parameters, question(groups[i])) : Result<void>(parameters.error());
    if (!written) co_return Error(written.error()).in(args_.servers[groups[i].shard]);
  }
  for (std::size_t t = 0; t < table_.tensors.size(); ++t) bench_->net->parameters_changed(t);
  co_return Result<void>{};
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
  const Result<std::string> hash = co_await std::move(hashed);
  if (!hash) co_return Error(hash.error()).in("writing the final weights");
  tell(observer_,
       JobFinished{
           .parameters_sha256 = *hash, .weights = args_.weights, .parameters = table_.elements});
  co_return Result<void>{};
}

}  // namespace sterna::actors
