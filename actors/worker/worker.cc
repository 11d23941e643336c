#include "actors/worker/worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "actors/reader/batch_parts.h"

namespace sterna::actors {
namespace {

/// Batches asked for ahead of the step that needs them, so that a reader's delay of up to two steps
/// is hidden; more would only hold memory.
constexpr std::uint64_t kBatchesAhead = 3;

/// What a question came to, with the step and whom it was asked.
Error at(std::uint64_t step, const std::string& with, const Error& error) {
  return {error.code,
          fmt::format("step {}, {}: {}: {}", step, with, name(error.code), error.message)};
}

}  // namespace

void Worker::started() { run(train()); }

Task<Result<void>> Worker::train() {
  STERNA_CO_ASSIGN(const Scheme scheme, find_scheme(kScheme));
  policy_ = scheme.worker(args_.job);
  STERNA_CO_TRY(find_everyone());
  STERNA_CO_TRY(make_nets());
  for (Rank& rank : ranks_) rank.expect_version(*table_);
  pull(args_.job.first_step);
  for (Rank& rank : ranks_) run(train_rank(rank));
  co_return {};
}

Task<Result<void>> Worker::find_everyone() {
  const Duration patience = args_.job.deadlines.start;
  STERNA_CO_ASSIGN(servers_,
                   find_peers<ParameterServerInterface>(*this, args_.servers, patience, finder_));
  STERNA_CO_ASSIGN(readers_,
                   find_peers<InputReaderInterface>(*this, args_.readers, patience, finder_));
  co_return co_await observer_.emplace(*this, args_.observer, patience, finder_).find();
}

Task<Result<void>> Worker::make_nets() {
  for (std::uint32_t i = 0; i < args_.ranks; ++i) {
    Rank& rank = ranks_.emplace_back();
    rank.rank = args_.first_rank + i;
    rank.asked = args_.job.first_step;
    STERNA_CO_ASSIGN(rank.net, compute([job = args_.job, number = rank.rank] {
                       return RankNet::make(job, number);
                     }));
    if (!table_) {
      table_ = std::make_shared<const ParameterTable>(rank.net->parameters(), args_.job,
                                                      static_cast<std::uint32_t>(servers_.size()));
      groups_ = table_->pull_groups();
    }
    const Poster loop = poster();
    RankNet::Events events;
    events.encoder.packets = [this, &rank, loop](std::uint64_t step, std::uint32_t shard,
                                                 std::vector<Packet> packets) {
      loop.post([this, &rank, step, shard, packets = std::move(packets)]() mutable {
        push(rank, step, shard, std::move(packets));
      });
    };
    events.encoder.offers = [this, &rank, loop](std::uint64_t step, std::uint32_t shard,
                                                std::vector<Offer::OwnScaler> scalers) {
      loop.post([this, &rank, step, shard, scalers = std::move(scalers)]() mutable {
        run(agree(rank, step, shard, std::move(scalers)));
      });
    };
    events.settled = [this, &rank, loop] { loop.post([this, &rank] { write_settled(rank); }); };
    rank.net->set_table(table_, process().loop(), std::move(events));
  }
  co_return {};
}

// ---- computing ----

Task<Result<void>> Worker::train_rank(Rank& rank) {
  for (std::uint64_t step = args_.job.first_step; step < args_.job.steps; ++step) {
    ask_batches(rank, step);
    STERNA_CO_ASSIGN(Batch batch, next_batch(rank, step));
    STERNA_CO_TRY(forward(rank, step, std::move(batch)));
    if (policy_->compares(step)) co_await compare(rank, step);
    STERNA_CO_ASSIGN(const double loss, backward(rank, step));
    step_done(step, rank, loss);
  }
  co_return {};
}

Task<Result<void>> Worker::forward(Rank& rank, std::uint64_t step, Batch batch) {
  const auto shared = std::make_shared<const Batch>(std::move(batch));
  std::uint32_t readable = 0;
  bool complete = false;
  while (!complete) {
    while (rank.readable == readable) co_await rank.ready.wait();
    readable = rank.readable;
    meter_.begin(now());
    STERNA_CO_ASSIGN(complete, compute([net = rank.net, step, shared, readable] {
                       return net->forward(step, *shared, readable);
                     }));
  }
  co_return {};
}

Task<Result<double>> Worker::backward(Rank& rank, std::uint64_t step) {
  while (!rank.net->may_begin(step)) co_await rank.agreed.wait();
  rank.expect_version(*table_);
  STERNA_CO_ASSIGN(const double loss,
                   compute([net = rank.net, step] { return net->backward(step); }));
  write_settled(rank);
  while (rank.net->holds()) {
    const std::uint64_t before = rank.agreements;
    auto encoded = compute([net = rank.net] { net->encode_held(); });
    co_await std::move(encoded);
    if (rank.net->holds() && rank.agreements == before) co_await rank.agreed.wait();
  }
  rank.counts = rank.net->counts();
  co_return loss;
}

void Worker::Rank::expect_version(const ParameterTable& table) {
  missing.clear();
  for (const TableTensor& tensor : table.tensors) missing.push_back(tensor.chunks);
  readable = 0;
}

void Worker::ask_batches(Rank& rank, std::uint64_t step) {
  const JobConfig& job = args_.job;
  const std::uint64_t until = std::min(step + kBatchesAhead, job.steps);
  for (; rank.asked < until; ++rank.asked) {
    AskedBatch& asked = rank.batches.emplace_back();
    asked.question = policy_->batch(rank.asked, rank.rank);
    const auto ask_one = [&](Peer<InputReaderInterface>& reader) {
      asked.parts.push_back({reader.name(), reader.ask(asked.question, job.deadlines.step)});
    };
    if (job.shards > 0) {
      for (auto& reader : readers_) ask_one(reader);
    } else {
      ask_one(readers_[(rank.asked * job.ranks + rank.rank) % readers_.size()]);
    }
  }
}

Task<Result<Batch>> Worker::next_batch(Rank& rank, std::uint64_t step) {
  Task<Result<Batch>> task = whole(std::move(rank.batches.front()));
  rank.batches.pop_front();
  Result<Batch> batch = co_await std::move(task);
  if (!batch) co_return at(step, fmt::format("batch of rank {}", rank.rank), batch.error());
  co_return batch;
}

Task<Result<Batch>> Worker::whole(AskedBatch asked) {
  std::vector<Batch> parts;
  for (AskedBatch::Part& one : asked.parts) {
    Result<Batch> part = co_await std::move(one.answer);
    Result<void> fits = part ? check(*part, asked.question) : Result<void>(part.error());
    STERNA_CO_TRY(std::move(fits).in(one.reader));
    parts.push_back(std::move(*part));
  }
  if (args_.job.shards == 0) co_return std::move(parts.front());
  const input::BatchQuestion question{.seed = args_.job.seed,
                                      .step = asked.question.step,
                                      .rank = asked.question.rank,
                                      .ranks = args_.job.ranks,
                                      .batch = args_.job.batch};
  auto made = compute([question, parts = std::move(parts), readers = args_.readers, pool = pool_] {
    return put_together(question, parts, readers, *pool);
  });
  co_return co_await std::move(made);
}

Result<void> Worker::check(const Batch& batch, const NextBatch& question) const {
  if (batch.step != question.step || batch.rank != question.rank ||
      batch.images.size() % sizeof(float) != 0) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  if (args_.job.shards == 0 && (!batch.rows.empty() || batch.of != ShardOf{})) {
    return Error{Errc::malformed, "the answer is a shard's, and readers hold all examples"};
  }
  return {};  // the net checks sizes and labels
}

// ---- parameters down ----

/// Asks for what `step` needs, a step ahead: each server answers the moment that a chunk has its
/// next version.
void Worker::pull(std::uint64_t step) {
  if (step >= args_.job.steps) return;  // the last version is for the evaluator
  groups_missing_ = groups_.size();
  for (const auto& group : groups_) run(pull_group(step, group));
}

Task<Result<void>> Worker::pull_group(std::uint64_t step, const ParameterTable::PullGroup& group) {
  auto& server = servers_[group.shard];
  const Need need = policy_->need(step);
  const Pull question{
      .version = need.version, .chunks = group.chunks, .kind = need.kind, .codec = need.codec};
  Task<Result<Parameters>> answer = server.ask(question, args_.job.deadlines.step);
  Result<Parameters> parameters = co_await std::move(answer);
  const Result<void> taken =
      parameters ? take(std::move(*parameters), question) : Result<void>(parameters.error());
  if (!taken) co_return at(step, "parameters from " + server.name(), taken.error());
  if (--groups_missing_ == 0) pull(step + 1);
  co_return {};
}

Result<void> Worker::take(Parameters parameters, const Pull& question) {
  std::vector<std::uint64_t> sizes;
  for (const ParameterChunk& chunk : parameters.chunks) sizes.push_back(chunk.payload.size());
  Result<Parameters> opened = open_answer(std::move(parameters), question, *table_, args_.job,
                                          *pool_, ranks_.front().net->isa());
  if (!opened) return std::move(opened).error();
  const auto answer = std::make_shared<const Parameters>(std::move(*opened));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint32_t chunk = answer->chunks[i].chunk;
    traffic_.parameter_bytes += sizes[i];
    traffic_.parameter_elements += table_->chunks[chunk].count;
    ranks_.front().net->count_down(chunk, sizes[i]);  // they come once for all ranks
  }
  for (Rank& rank : ranks_) {
    for (std::size_t i = 0; i < answer->chunks.size(); ++i) rank.waiting.push_back({answer, i});
    write_settled(rank);
  }
  return {};
}

void Worker::write_settled(Rank& rank) {
  const std::uint32_t settled = rank.net->settled();
  std::erase_if(rank.waiting, [&](const Waiting& waiting) {
    const std::uint32_t chunk = waiting.answer->chunks[waiting.index].chunk;
    if (table_->chunks[chunk].tensor < settled) return false;
    rank.net->take(*waiting.answer, waiting.index);
    --rank.missing[table_->chunks[chunk].tensor];
    return true;
  });
  const std::uint32_t before = rank.readable;
  while (rank.readable < rank.missing.size() && rank.missing[rank.readable] == 0) ++rank.readable;
  if (rank.readable > before) rank.ready.notify_all();
}

Task<void> Worker::compare(const Rank& rank, std::uint64_t step) {
  auto hashed = compute([net = rank.net] { return net->hashes(); });
  const std::vector<Hash> hashes = co_await std::move(hashed);
  const std::uint64_t version = policy_->need(step).version;
  std::vector<Compare> by_shard(table_->shards, Compare{.version = version, .chunks = {}});
  for (std::uint32_t c = 0; c < hashes.size(); ++c) {
    by_shard[table_->chunks[c].shard].chunks.push_back({.chunk = c, .hash = hashes[c]});
  }
  for (std::uint32_t shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].chunks.empty()) continue;
    ++unacknowledged_;
    run(compare_at(shard, rank.rank, std::move(by_shard[shard])));
  }
}

Task<Result<void>> Worker::compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare) {
  auto& server = servers_[shard];
  const std::uint64_t version = compare.version;
  Task<Result<void>> answer = server.ask(std::move(compare), args_.job.deadlines.step);
  const Result<void> same = co_await std::move(answer);
  if (!same) {
    co_return at(version,
                 fmt::format("parameters of rank {} compared with {}", rank, server.name()),
                 same.error());
  }
  --unacknowledged_;
  finish();
  co_return {};
}

// ---- gradients up ----

Task<Result<void>> Worker::agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                                 std::vector<Offer::OwnScaler> scalers) {
  auto& server = servers_[shard];
  const Offer offer{.rank = rank.rank,
                    .incarnation = identity().incarnation,
                    .step = step,
                    .scalers = std::move(scalers)};
  Task<Result<Agreed>> answer = server.ask(offer, args_.job.deadlines.step);
  Result<Agreed> agreed = co_await std::move(answer);
  if (agreed && agreed->values.size() != offer.scalers.size()) {
    agreed = Error{Errc::malformed, "the answer is to another question"};
  }
  if (!agreed) co_return at(step, "scalers from " + server.name(), agreed.error());
  for (std::size_t i = 0; i < offer.scalers.size(); ++i) {
    rank.net->agree(step, offer.scalers[i].index, agreed->values[i]);
  }
  ++rank.agreements;
  rank.agreed.notify_all();
  co_return {};
}

void Worker::push(Rank& rank, std::uint64_t step, std::uint32_t shard,
                  std::vector<Packet> packets) {
  for (const Packet& packet : packets) {
    const std::uint64_t bytes = packet.payload.size();
    traffic_.gradient_bytes += bytes;
    traffic_.gradient_elements += packet.count;
    if (codec_of(packet.codec).ternary()) {
      traffic_.ternarized_bytes += bytes + sizeof(packet.scaler);
      traffic_.ternarized_elements += packet.count;
    }
    if (rank.net->computing()) traffic_.bytes_before_backward_ended += bytes;
  }
  ++unacknowledged_;
  const Contribution made = policy_->contribution(step);
  run(send(shard, Push{.rank = rank.rank,
                       .incarnation = identity().incarnation,
                       .step = step,
                       .base_version = made.base_version,
                       .examples = made.examples,
                       .kind = made.kind,
                       .packets = std::move(packets)}));
}

Task<Result<void>> Worker::send(std::uint32_t shard, Push push) {
  auto& server = servers_[shard];
  const std::uint64_t step = push.step;
  Task<Result<PushReply>> answer = server.ask(std::move(push), args_.job.deadlines.step);
  const Result<PushReply> reply = co_await std::move(answer);
  if (!reply) co_return at(step, "gradient to " + server.name(), reply.error());
  --unacknowledged_;
  finish();
  co_return {};
}

// ---- what the observer hears ----

Traffic Worker::traffic() const {
  Traffic traffic = traffic_;
  if (const Links* links = process().links()) {
    for (const std::uint64_t bytes : links->counters().bytes_out) traffic.bytes_up += bytes;
    for (const std::uint64_t bytes : links->counters().bytes_in) traffic.bytes_down += bytes;
  }
  for (const Rank& rank : ranks_) {
    traffic.nonzero_elements += rank.counts.nonzero;
    traffic.measured_elements += rank.counts.measured;
    traffic.saturated_elements += rank.counts.saturated;
  }
  return traffic;
}

/// Sums over the ranks.
std::vector<TensorTotals> Worker::totals() const {
  std::vector<TensorTotals> sums;
  for (const Rank& rank : ranks_) {
    const std::vector<TensorTotals> own = rank.net->totals();
    if (sums.empty()) {
      sums = own;
      continue;
    }
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += own[t];
  }
  return sums;
}

void Worker::step_done(std::uint64_t step, Rank& rank, double loss) {
  if (meter_.add(step, rank.rank, loss, now())) {
    observer_->tell(meter_.progress(identity().name, traffic(), now()));
  }
  finish();
}

void Worker::finish() {
  if (!meter_.complete() || unacknowledged_ > 0) return;
  observer_->tell(meter_.done(identity().name, traffic(), totals(), now()));
}

}  // namespace sterna::actors
