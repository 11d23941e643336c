#include "actors/evaluator/evaluator.h"

#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "actors/weights/model_note.h"
#include "nets/weights/weights_file.h"

namespace sterna::actors {

void Evaluator::started() { run(evaluate_job()); }

Task<Result<Enlisted>> Evaluator::on(Enlist) {
  const ActorId from = sender();
  while (!found_) co_await servers_found_.wait();
  STERNA_CO_TRY(enlist(servers_, process(), from, 0));
  co_return Enlisted{};
}

Task<Result<void>> Evaluator::evaluate_job() {
  const JobConfig& job = args_.job;
  STERNA_CO_TRY(prepare());
  std::uint64_t version = job.first_step;
  if (identity().incarnation > 1) {
    STERNA_CO_ASSIGN(version, take_over());
  }
  while (version < job.steps) {
    STERNA_CO_ASSIGN(Named next, next_version(version));
    version = evaluating_ = next.version;
    Result<void> evaluated = co_await evaluate_version(version);
    if (missed(next, evaluated)) evaluated = {};
    if (evaluated) evaluated = co_await conclude(next);
    STERNA_CO_TRY(std::move(evaluated).in(fmt::format("evaluating step {}", version)));
  }
  co_return co_await finish();
}

bool Evaluator::missed(Named& version, const Result<void>& evaluated) {
  const bool gone = !evaluated && evaluated.error().code == Errc::not_found;
  if (!gone || !args_.job.servers_come_again() || version.version == args_.job.steps) return false;
  log(fmt::format("step {} is not evaluated: it was lost with a server ({})", version.version,
                  evaluated.error().message));
  ++skipped_;
  ++version.skipped;
  for (Named& later : named_) ++later.skipped;
  return true;
}

Task<Result<void>> Evaluator::prepare() {
  const Duration patience = args_.job.deadlines.start;
  if (device_ == nullptr) {
    STERNA_CO_ASSIGN(const auto devices,
                     compute([backend = args_.backend] { return open_devices(backend); }));
    if (!devices.empty()) device_ = devices.front();
  }
  if (identity().incarnation == 1) {  // else see take_over()
    for (const std::uint64_t version : args_.job.first_named()) named_.push_back({version, 0});
  }
  STERNA_CO_ASSIGN(
      servers_,
      find_servers(*this, poster(), process().options().link.most_under_way(), args_.servers,
                   args_.replicas, patience, args_.job.servers_come_again(), finder_));
  found_ = true;
  servers_found_.notify_all();
  STERNA_CO_TRY(observer_.emplace(*this, args_.observer, patience, finder_).find());
  STERNA_CO_ASSIGN(EvaluationBench bench, compute([job = args_.job, device = device_] {
                     return EvaluationBench::make(job, device);
                   }));
  bench_ = std::make_shared<EvaluationBench>(std::move(bench));
  table_ = ParameterTable(bench_->net->parameters(), args_.job,
                          static_cast<std::uint32_t>(servers_.size()));
  last_named_ = named_.empty() ? args_.job.first_step : named_.back().version;
  named_at_ = now();
  if (args_.job.evaluation.every_seconds > 0) run(hear_of_the_end());
  co_return {};
}

Task<Result<void>> Evaluator::evaluate_version(std::uint64_t version) {
  const JobConfig& job = args_.job;
  if (version == job.steps && job.keeps_averages()) {
    STERNA_CO_TRY(take_version(version, PayloadKind::MOVING_AVERAGE));
    STERNA_CO_TRY(keep_weights());
  }
  // What stands for the run is told last.
  if (job.evaluates_parameters()) {
    STERNA_CO_TRY(take_version(version, PayloadKind::PARAMETERS));
    STERNA_CO_TRY(keep_weights());
    STERNA_CO_TRY(evaluate_subsets(version, PayloadKind::PARAMETERS));
  }
  if (!job.evaluates_averages()) co_return {};
  STERNA_CO_TRY(take_version(version, PayloadKind::MOVING_AVERAGE));
  co_return co_await evaluate_subsets(version, PayloadKind::MOVING_AVERAGE);
}

Task<Result<void>> Evaluator::evaluate_subsets(std::uint64_t version, PayloadKind kind) {
  const JobConfig& job = args_.job;
  for (const EvaluationBench::Subset& subset : bench_->subsets) {
    const std::uint64_t examples = examples_of(job, subset.name, version);
    auto evaluating =
        compute([bench = bench_, &subset, examples] { return bench->evaluate(subset, examples); });
    Result<Evaluation> evaluated = co_await evaluating;
    for (const std::string& line : subset.how.bad->news()) process().log(line);
    STERNA_CO_ASSIGN(Evaluation evaluation, std::move(evaluated));
    Task<Result<void>> telling =
        observer_->ask(Evaluated{.step = version,
                                 .precision_at_1 = evaluation.precision_at_1,
                                 .loss = evaluation.loss,
                                 .examples = evaluation.examples,
                                 .left_out = evaluation.left_out,
                                 .recall_at_5 = evaluation.recall_at_5,
                                 .classes = static_cast<std::uint32_t>(bench_->net->classes()),
                                 .subset = subset.name,
                                 .of = kind,
                                 .skipped = skipped_,
                                 .confusion = std::move(evaluation.confusion)},
                       job.deadlines.step);
    STERNA_CO_TRY(std::move(telling));
  }
  co_return {};
}

Task<Result<void>> Evaluator::take_version(std::uint64_t version, PayloadKind kind) {
  const Held wanted{version, kind};
  if (held_ == wanted) co_return {};
  held_.reset();
  std::deque<Task<Result<void>>> all;
  for (const auto& group : table_.pull_groups(Pulled::all)) {
    all.push_back(take_group(version, kind, group));
    all.back().start();
  }
  for (Task<Result<void>>& one : all) STERNA_CO_TRY(std::move(one));
  for (std::size_t t = 0; t < table_.tensors.size(); ++t) bench_->net->parameters_changed(t);
  held_ = wanted;
  co_return {};
}

Task<Result<void>> Evaluator::take_group(std::uint64_t version, PayloadKind kind,
                                         ParameterTable::PullGroup group) {
  ShardServers& server = servers_[group.shard];
  const Pull question{.version = version, .chunks = std::move(group.chunks), .kind = kind};
  const std::uint64_t bytes = most_bytes(question, table_, args_.job);
  Task<Result<Parameters>> answer = server.ask_within_down(bytes, question, kWhileRanksCompute);
  const Result<Parameters> parameters = co_await answer;
  Result<void> written =
      parameters ? write(*parameters, question) : Result<void>(parameters.error());
  co_return std::move(written).in(server.name());
}

Result<void> Evaluator::write(const Parameters& parameters, const Pull& question) {
  BufferPool pool;  // fp32 needs none
  STERNA_ASSIGN(const Parameters opened,
                open_answer(parameters, question, table_, args_.job, pool, kernels::Isa::scalar));
  for (const ParameterChunk& chunk : opened.chunks) {
    const TableChunk& place = table_.chunks[chunk.chunk];
    came_.resize(place.count);  // aligned, as a payload need not be
    std::memcpy(came_.data(), chunk.payload.data(), chunk.payload.size());
    STERNA_TRY(bench_->net->write_parameter(place.tensor, place.first, came_));
  }
  return {};
}

Task<Result<void>> Evaluator::keep_weights() {
  const bool averages = args_.job.keeps_averages();
  const Held final{args_.job.steps,
                   averages ? PayloadKind::MOVING_AVERAGE : PayloadKind::PARAMETERS};
  if (args_.weights.empty() || weights_kept_ || held_ != final) co_return {};
  auto written = compute([bench = bench_, path = args_.weights, job = args_.job]() -> Result<void> {
    const std::size_t tensors = bench->net->parameters().size();
    std::vector<std::vector<float>> copies(tensors);
    std::vector<std::span<const float>> values;
    for (std::size_t t = 0; t < tensors; ++t) {
      STERNA_ASSIGN(values.emplace_back(), values_on_host(*bench->net, t, copies[t]));
    }
    const ModelNote note =
        note_of(job, job.steps, bench->subsets.back().how.family->name, bench->labels);
    return nets::write_safetensors(path, bench->net->parameters(), values, to_metadata(note));
  });
  const Result<void> result = co_await written;
  STERNA_CO_TRY(Result<void>(result).in("writing the final weights"));
  weights_kept_ = true;
  co_return {};
}

Task<Result<void>> Evaluator::finish() {
  const std::uint64_t last = args_.job.steps;
  if (args_.job.keeps_averages() && !weights_kept_) {
    STERNA_CO_TRY(take_version(last, PayloadKind::MOVING_AVERAGE));
    STERNA_CO_TRY(keep_weights());
  }
  // The last version's parameters, which no step changes any more.
  STERNA_CO_TRY(take_version(last, PayloadKind::PARAMETERS));
  STERNA_CO_TRY(keep_weights());
  auto hashed = compute([bench = bench_] { return parameters_sha256(*bench->net); });
  STERNA_CO_ASSIGN(const std::string sha256, std::move(hashed));
  observer_->tell(JobFinished{
      .parameters_sha256 = sha256, .weights = args_.weights, .parameters = table_.elements});
  co_return {};
}

}  // namespace sterna::actors
