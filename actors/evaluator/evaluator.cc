#include "actors/evaluator/evaluator.h"

#include <cstring>
#include <deque>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "actors/reader/data_folder.h"
#include "actors/reader/preparation.h"
#include "actors/weights/model_note.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "nets/weights/weights_file.h"

namespace sterna::actors {

void Evaluator::started() { run(evaluate_job()); }

Result<std::shared_ptr<Evaluator::Bench>> Evaluator::make_bench(const JobConfig& job) {
  auto bench = std::make_shared<Bench>();
  nets::NetOptions options = net_options(job);
  options.batch = job.evaluation.batch;
  options.micro_batch = 0;
  options.trains = false;
  STERNA_ASSIGN(bench->net, nets::make_net(options));
  STERNA_ASSIGN(const std::string folder, test_folder(job.data));
  STERNA_ASSIGN(bench->source,
                input::open_data(folder, input::Split::test, data_options(job.data, job.seed)));
  STERNA_ASSIGN(bench->how,
                preparation_of(job, bench->source->facts(), bench->source->facts().count));
  if (std::error_code ignored; std::filesystem::exists(folder, ignored)) {
    STERNA_ASSIGN(auto labels, input::class_names(folder, data_options(job.data, job.seed)));
    bench->labels = std::move(labels).value_or(input::ClassLabels{});
  }
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
  STERNA_CO_ASSIGN(auto servers,
                   find_peers<ParameterServerInterface>(*this, args_.servers, patience, finder_));
  const std::uint64_t most = process().options().link.most_under_way();
  for (auto& server : servers) servers_.emplace_back(std::move(server), poster(), most);
  STERNA_CO_TRY(observer_.emplace(*this, args_.observer, patience, finder_).find());
  STERNA_CO_ASSIGN(bench_, compute([job = args_.job] { return make_bench(job); }));
  table_ = ParameterTable(bench_->net->parameters(), args_.job,
                          static_cast<std::uint32_t>(servers_.size()));
  co_return {};
}

Task<Result<void>> Evaluator::evaluate_version(std::uint64_t version) {
  const PayloadKind kind =
      args_.job.keeps_averages() ? PayloadKind::MOVING_AVERAGE : PayloadKind::PARAMETERS;
  STERNA_CO_TRY(take_version(version, kind));
  for (Server& server : servers_) server.peer.tell(Release{version});
  const std::uint64_t examples = version == args_.job.steps
                                     ? std::numeric_limits<std::uint64_t>::max()
                                     : args_.job.evaluation.examples;
  auto evaluating = compute([bench = bench_, examples] {
    return evaluate(*bench->net, *bench->source, bench->how, examples);
  });
  Result<Evaluation> evaluated = co_await std::move(evaluating);
  for (const std::string& line : bench_->how.bad->news()) process().log(line);
  STERNA_CO_ASSIGN(const Evaluation evaluation, std::move(evaluated));
  observer_->tell(Evaluated{.step = version,
                            .precision_at_1 = evaluation.precision_at_1,
                            .loss = evaluation.loss,
                            .examples = evaluation.examples});
  co_return {};
}

Task<Result<void>> Evaluator::take_version(std::uint64_t version, PayloadKind kind) {
  std::deque<Task<Result<void>>> all;
  for (const auto& group : table_.pull_groups(Pulled::all)) {
    all.push_back(take_group(version, kind, group));
    all.back().start();
  }
  for (Task<Result<void>>& one : all) STERNA_CO_TRY(std::move(one));
  for (std::size_t t = 0; t < table_.tensors.size(); ++t) bench_->net->parameters_changed(t);
  co_return {};
}

Task<Result<void>> Evaluator::take_group(std::uint64_t version, PayloadKind kind,
                                         ParameterTable::PullGroup group) {
  Server& server = servers_[group.shard];
  const Pull question{.version = version, .chunks = std::move(group.chunks), .kind = kind};
  const std::uint64_t bytes = most_bytes(question, table_, args_.job);
  Task<Result<Parameters>> answer =
      server.peer.ask_within(server.down, bytes, question, kWhileRanksCompute);
  const Result<Parameters> parameters = co_await std::move(answer);
  Result<void> written =
      parameters ? write(*parameters, question) : Result<void>(parameters.error());
  co_return std::move(written).in(server.peer.name());
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

Task<Result<void>> Evaluator::write_weights() {
  if (args_.weights.empty()) co_return {};
  auto written = compute([bench = bench_, path = args_.weights, job = args_.job]() -> Result<void> {
    std::vector<std::span<const float>> values;
    for (std::size_t t = 0; t < bench->net->parameters().size(); ++t) {
      values.emplace_back(bench->net->parameter(t));
    }
    const ModelNote note = note_of(job, job.steps, bench->how.family->name, bench->labels);
    return nets::write_safetensors(path, bench->net->parameters(), values, to_metadata(note));
  });
  Result<void> result = co_await std::move(written);
  co_return std::move(result).in("writing the final weights");
}

Task<Result<void>> Evaluator::finish() {
  STERNA_CO_TRY(write_weights());
  // The last version's parameters, which no step changes any more.
  if (args_.job.keeps_averages()) {
    STERNA_CO_TRY(take_version(args_.job.steps, PayloadKind::PARAMETERS));
  }
  auto hashed = compute([bench = bench_] { return parameters_sha256(*bench->net); });
  const std::string sha256 = co_await std::move(hashed);
  observer_->tell(JobFinished{
      .parameters_sha256 = sha256, .weights = args_.weights, .parameters = table_.elements});
  co_return {};
}

}  // namespace sterna::actors
