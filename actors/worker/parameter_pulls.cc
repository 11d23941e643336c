#include "actors/worker/parameter_pulls.h"

#include <utility>

namespace sterna::actors {

ParameterPulls::ParameterPulls(const WorkerContext& context, std::deque<ShardServers>& servers,
                               std::shared_ptr<const ParameterTable> table,
                               std::shared_ptr<BufferPool> pool, Options options)
    : context_(context),
      servers_(servers),
      table_(std::move(table)),
      pool_(std::move(pool)),
      options_(std::move(options)) {
  const bool in_step = context.policy.in_step();
  groups_ = table_->pull_groups(in_step ? Pulled::trained : Pulled::pushed);
  if (!in_step) all_groups_ = table_->pull_groups(Pulled::all);
  held_.resize(table_->chunks.size(),
               options_.begins ? std::optional(context.job().first_step) : std::nullopt);
}

void ParameterPulls::begin(To all) {
  all_ = std::move(all);
  next(context_.job().first_step);
}

void ParameterPulls::next(std::uint64_t step) {
  const JobConfig& job = context_.job();
  if (step >= job.steps) return;                            // the last version is for the evaluator
  if (options_.exchanges && step > job.first_step) return;  // devices make it
  groups_missing_ = groups_.size();
  for (const auto& group : groups_) context_.run(pull_group(step, group));
}

Task<Result<void>> ParameterPulls::pull_group(std::uint64_t step,
                                              const ParameterTable::PullGroup& group) {
  const JobConfig& job = context_.job();
  ShardServers& server = servers_[group.shard];
  Need need = context_.policy.need(step);
  const bool steps = context_.policy.need(step + 1).kind == PayloadKind::GRADIENT;
  if (options_.rejoins && step == job.first_step && steps) need.kind = PayloadKind::STATE;
  Pull question{.version = need.version,
                .chunks = group.chunks,
                .kind = need.kind,
                .codec = group.frozen ? Codec::FP32 : need.codec};
  const Time asked = context_.now();
  const auto ask = [&] {
    const std::uint64_t bytes = most_bytes(question, *table_, job);
    return server.ask_within_down(bytes, question, kWhileRanksCompute);
  };
  Task<Result<Parameters>> answer = ask();
  Result<Parameters> parameters = co_await answer;
  // In the place of a lost one the server may have all that the average led to, and not that.
  if (!parameters && parameters.error().code == Errc::not_found &&
      question.kind == PayloadKind::GRADIENT && job.servers_come_again()) {
    question.kind = PayloadKind::STATE;
    Task<Result<Parameters>> state = ask();
    Result<Parameters> whole = co_await state;
    parameters = std::move(whole);
  }
  context_.trace.asked(step, "pull", server.name(), asked);
  const Span taking = context_.trace.takes_answer(step, question, context_.process.id());
  const Result<void> taken =
      parameters ? take(std::move(*parameters), question, all_) : Result<void>(parameters.error());
  if (!taken) co_return at_step(step, "parameters from " + server.name(), taken.error());
  if (--groups_missing_ > 0) co_return {};
  options_.came(step);
  const bool first = step == job.first_step;
  if (first) groups_ = table_->pull_groups(Pulled::changing);
  // Else nothing of the next version can come before this one has been read.
  if (!first || !options_.rejoins) next(step + 1);
  co_return {};
}

void ParameterPulls::newest(RankPull& rank, std::uint64_t step, std::uint64_t push, bool first) {
  const auto& groups = first ? all_groups_ : groups_;
  rank.waiting = groups.size();
  for (const auto& group : groups) context_.run(pull_newest(rank, step, push, group));
}

Task<Result<void>> ParameterPulls::pull_newest(RankPull& rank, std::uint64_t step,
                                               std::uint64_t push,
                                               const ParameterTable::PullGroup& group) {
  ShardServers& server = servers_[group.shard];
  const Need need = context_.policy.need(push);
  const Pull question{.version = need.version,
                      .chunks = group.chunks,
                      .kind = need.kind,
                      .codec = group.frozen ? Codec::FP32 : need.codec,
                      .newest = true,
                      .rank = rank.rank,
                      .pushes = push};
  Pull largest = question;
  largest.codec = Codec::FP32;
  const std::uint64_t bytes = most_bytes(largest, *table_, context_.job());
  const Time asked = context_.now();
  Task<Result<Parameters>> answer =
      server.paired() ? ask_pair(context_.process, server, PairAsks::either, bytes, Pull(question),
                                 kWhileRanksCompute)
                      : server.ask_within_down(bytes, question, kWhileRanksCompute);
  Result<Parameters> parameters = co_await answer;
  context_.trace.asked(push, "pull", server.name(), asked);
  const Span taking = context_.trace.takes_answer(push, question, context_.process.id());
  const Result<void> taken = parameters ? take(std::move(*parameters), question, {rank.incoming})
                                        : Result<void>(parameters.error());
  if (!taken) co_return at_step(step, "parameters from " + server.name(), taken.error());
  --rank.waiting;
  rank.came();
  co_return {};
}

Result<void> ParameterPulls::take(Parameters parameters, const Pull& question, const To& to) {
  std::vector<std::uint64_t> sizes;
  for (const ParameterChunk& chunk : parameters.chunks) sizes.push_back(chunk.payload.size());
  Replica& first = *to.front()->replica();
  Result<Parameters> opened =
      open_answer(std::move(parameters), question, *table_, context_.job(), *pool_, first.isa());
  if (!opened) return std::move(opened).error();
  const auto answer = std::make_shared<const Parameters>(std::move(*opened));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint32_t chunk = answer->chunks[i].chunk;
    held_[chunk] = answer->version;
    traffic_.parameter_bytes += sizes[i];
    traffic_.parameter_elements += table_->chunks[chunk].count;
    first.count_down(chunk, sizes[i]);  // they come once for all of these
  }
  for (IncomingVersion* one : to) one->take(answer);
  return {};
}

}  // namespace sterna::actors
