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
constexpr Duration kProgressInterval = std::chrono::milliseconds(100);
constexpr std::size_t kStepTimes = 4096;

}  // namespace

void Worker::started() { run(train()); }

void Worker::fail_at(std::uint64_t step, const std::string& with, const Error& error) {
  fail(fmt::format("step {}, {}: {}: {}", step, with, name(error.code), error.message));
}

Task<void> Worker::train() {
  Result<void> ready = co_await find_everyone();
  if (ready) ready = co_await make_nets();
  if (!ready) {
    fail(ready.error().message);
    co_return;
  }
  for (Rank& rank : ranks_) rank.expect_version(*table_);
  pull(0);
  for (Rank& rank : ranks_) run(train_rank(rank));
}

Task<Result<void>> Worker::find_everyone() {
  const Duration patience = args_.job.deadlines.find;
  auto servers =
      co_await find_peers<ParameterServerInterface>(finder_, process(), args_.servers, patience);
  if (!servers) co_return std::move(servers).error();
  servers_ = std::move(servers).value();
  auto readers =
      co_await find_peers<InputReaderInterface>(finder_, process(), args_.readers, patience);
  if (!readers) co_return std::move(readers).error();
  readers_ = std::move(readers).value();
  auto observer = co_await find_peer<Observer>(finder_, process(), args_.observer, patience);
  if (!observer) co_return std::move(observer).error();
  observer_ = *observer;
  co_return Result<void>{};
}

Task<Result<void>> Worker::make_nets() {
  for (std::uint32_t i = 0; i < args_.ranks; ++i) {
    Rank& rank = ranks_.emplace_back();
    rank.rank = args_.first_rank + i;
    auto made =
        compute([job = args_.job, number = rank.rank] { return RankNet::make(job, number); });
    auto net = co_await std::move(made);
    if (!net) co_return std::move(net).error();
    rank.net = std::move(net).value();
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
  co_return Result<void>{};
}

// ---- computing ----

Task<void> Worker::train_rank(Rank& rank) {
  for (std::uint64_t step = 0; step < args_.job.steps; ++step) {
    ask_batches(rank, step);
    Task<Result<Batch>> next = next_batch(rank, step);
    Result<Batch> batch = co_await std::move(next);
    if (!batch) {
      fail_at(step, fmt::format("batch of rank {}", rank.rank), batch.error());
      co_return;
    }
    Task<Result<void>> pass = forward(rank, step, std::make_shared<const Batch>(std::move(*batch)));
    const Result<void> passed = co_await std::move(pass);
    if (!passed) {
      fail(passed.error().message);
      co_return;
    }
    while (!rank.net->may_begin(step)) co_await rank.agreed.wait();
    if (args_.job.compares(step)) {
      auto hashed = compute([net = rank.net] { return net->hashes(); });
      const std::vector<Hash> hashes = co_await std::move(hashed);
      compare(rank, step, hashes);
    }
    rank.expect_version(*table_);
    auto computed = compute([net = rank.net, step] { return net->backward(step); });
    const Result<double> loss = co_await std::move(computed);
    if (!loss) {
      fail(loss.error().message);
      co_return;
    }
    write_settled(rank);
    while (rank.net->holds()) {
      const std::uint64_t before = rank.agreements;
      auto encoded = compute([net = rank.net] { net->encode_held(); });
      co_await std::move(encoded);
      if (rank.net->holds() && rank.agreements == before) co_await rank.agreed.wait();
    }
    rank.counts = rank.net->counts();
    step_done(step, rank.rank, *loss);
  }
}

Task<Result<void>> Worker::forward(Rank& rank, std::uint64_t step,
                                   std::shared_ptr<const Batch> batch) {
  std::uint32_t readable = 0;
  bool complete = false;
  while (!complete) {
    while (rank.readable == readable) co_await rank.ready.wait();
    readable = rank.readable;
    if (!std::exchange(began_, true)) began_at_ = last_step_at_ = now();
    auto passed = compute(
        [net = rank.net, step, batch, readable] { return net->forward(step, *batch, readable); });
    const Result<bool> result = co_await std::move(passed);
    if (!result) co_return result.error();
    complete = *result;
  }
  co_return Result<void>{};
}

void Worker::Rank::expect_version(const ParameterTable& table) {
  missing.clear();
  for (const TableTensor& tensor : table.tensors) missing.push_back(tensor.chunks);
  readable = 0;
}

void Worker::ask_batches(Rank& rank, std::uint64_t step) {
  const std::uint64_t until = std::min(step + kBatchesAhead, args_.job.steps);
  for (; rank.asked < until; ++rank.asked) {
    std::vector<Asked>& asked = rank.batches.emplace_back();
    const auto ask_one = [&](std::size_t reader) {
      asked.push_back(
          {reader, ask(readers_[reader], NextBatch{.step = rank.asked, .rank = rank.rank},
                       args_.job.deadlines.ask)});
    };
    if (args_.job.data.shards > 0) {
      for (std::size_t reader = 0; reader < readers_.size(); ++reader) ask_one(reader);
    } else {
      ask_one((rank.asked * args_.job.ranks + rank.rank) % readers_.size());
    }
  }
}

Task<Result<Batch>> Worker::next_batch(Rank& rank, std::uint64_t step) {
  std::vector<Asked> asked = std::move(rank.batches.front());
  rank.batches.pop_front();
  std::vector<Batch> parts;
  for (Asked& one : asked) {
    Result<Batch> part = co_await one.answer;
    const Result<void> fits = part ? check(*part, step, rank.rank) : Result<void>(part.error());
    if (!fits) co_return Error(fits.error()).in(args_.readers[one.reader]);
    parts.push_back(std::move(*part));
  }
  if (args_.job.data.shards == 0) co_return std::move(parts.front());
  const input::BatchQuestion question{.seed = args_.job.seed,
                                      .step = step,
                                      .rank = rank.rank,
                                      .ranks = args_.job.ranks,
                                      .batch = args_.job.batch};
  auto whole = compute([question, parts = std::move(parts), readers = args_.readers, pool = pool_] {
    return put_together(question, parts, readers, *pool);
  });
  co_return co_await std::move(whole);
}

Result<void> Worker::check(const Batch& batch, std::uint64_t step, std::uint32_t rank) const {
  if (batch.step != step || batch.rank != rank || batch.images.size() % sizeof(float) != 0) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  if (args_.job.data.shards == 0 && (!batch.rows.empty() || batch.of != ShardOf{})) {
    return Error{Errc::malformed, "the answer is a shard's, and readers hold all examples"};
  }
  return {};  // the net checks sizes and labels
}

// ---- parameters down ----

void Worker::pull(std::uint64_t version) {
  if (version >= args_.job.steps) return;  // the last version is for the evaluator
  groups_missing_ = groups_.size();
  for (std::size_t group = 0; group < groups_.size(); ++group) run(pull_group(version, group));
}

Task<void> Worker::pull_group(std::uint64_t version, std::size_t index) {
  const ParameterTable::PullGroup& group = groups_[index];
  const bool steps = version > 0 && args_.job.workers_step();
  const bool rounded = version > 0 && args_.job.gradient.down == Down::PARAMETERS_BF16;
  const Pull question{.version = version,
                      .chunks = group.chunks,
                      .kind = steps ? PayloadKind::GRADIENT : PayloadKind::PARAMETERS,
                      .codec = rounded ? Codec::BF16 : Codec::FP32};
  Future<Parameters> answer = ask(servers_[group.shard], question, args_.job.deadlines.ask);
  Result<Parameters> parameters = co_await answer;
  const Result<void> taken =
      parameters ? take(std::move(*parameters), question) : Result<void>(parameters.error());
  if (!taken) {
    fail_at(version, fmt::format("parameters from {}", args_.servers[group.shard]), taken.error());
    co_return;
  }
  // Asked a step ahead: each server answers the moment that a chunk has its next version.
  if (--groups_missing_ == 0) pull(version + 1);
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

/// Asks each server whether the rank's parameters are still what its own are.
void Worker::compare(const Rank& rank, std::uint64_t version, const std::vector<Hash>& hashes) {
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

Task<void> Worker::compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare) {
  const std::uint64_t version = compare.version;
  Future<void> answer = ask(servers_[shard], std::move(compare), args_.job.deadlines.ask);
  const Result<void> same = co_await answer;
  if (!same) {
    fail_at(version,
            fmt::format("parameters of rank {} compared with {}", rank, args_.servers[shard]),
            same.error());
    co_return;
  }
  --unacknowledged_;
  finish();
}

// ---- gradients up ----

Task<void> Worker::agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                         std::vector<Offer::OwnScaler> scalers) {
  Offer offer{.rank = rank.rank,
              .incarnation = process().options().link.identity.incarnation,
              .epoch = args_.job.epoch,
              .step = step,
              .scalers = scalers};
  Future<Agreed> answer = ask(servers_[shard], std::move(offer), args_.job.deadlines.ask);
  const Result<Agreed> agreed = co_await answer;
  const Result<void> taken = agreed && agreed->values.size() != scalers.size()
                                 ? Error{Errc::malformed, "the answer is to another question"}
                                 : Result<void>(agreed ? Result<void>{} : agreed.error());
  if (!taken) {
    fail_at(step, fmt::format("scalers from {}", args_.servers[shard]), taken.error());
    co_return;
  }
  for (std::size_t i = 0; i < scalers.size(); ++i) {
    rank.net->agree(step, scalers[i].index, agreed->values[i]);
  }
  ++rank.agreements;
  rank.agreed.notify_all();
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
  run(send(shard, Push{.rank = rank.rank,
                       .incarnation = process().options().link.identity.incarnation,
                       .epoch = args_.job.epoch,
                       .step = step,
                       .base_version = step,
                       .examples = args_.job.batch,
                       .kind = PayloadKind::GRADIENT,
                       .packets = std::move(packets)}));
}

Task<void> Worker::send(std::uint32_t shard, Push push) {
  const std::uint64_t step = push.step;
  Future<PushReply> answer = ask(servers_[shard], std::move(push), args_.job.deadlines.ask);
  const Result<PushReply> reply = co_await answer;
  if (!reply) {
    fail_at(step, fmt::format("gradient to {}", args_.servers[shard]), reply.error());
    co_return;
  }
  --unacknowledged_;
  finish();
}

// ---- what the observer hears ----

double Worker::seconds() const { return std::chrono::duration<double>(now() - began_at_).count(); }

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

void Worker::step_done(std::uint64_t step, std::uint32_t rank, double loss) {
  const auto [entry, fresh] = losses_.try_emplace(step);
  StepLosses& losses = entry->second;
  if (fresh) losses = {.by_rank = std::vector<double>(args_.ranks), .missing = args_.ranks};
  losses.by_rank[rank - args_.first_rank] = loss;
  if (--losses.missing > 0) return;

  double sum = 0;
  for (const double one : losses.by_rank) sum += one;
  last_loss_ = sum / args_.ranks;
  losses_.erase(entry);
  const Time at = now();
  if (step_times_.size() < kStepTimes) {
    step_times_.push_back((at - last_step_at_).count());
  } else {
    step_times_[steps_done_ % kStepTimes] = (at - last_step_at_).count();
  }
  last_step_at_ = at;
  ++steps_done_;
  const bool last = steps_done_ == args_.job.steps;
  if (steps_done_ == 1 || last || at - last_progress_at_ >= kProgressInterval) {
    last_progress_at_ = at;
    tell(observer_, Progress{.worker = process().options().link.identity.name,
                             .step = steps_done_,
                             .loss = last_loss_,
                             .examples = steps_done_ * args_.ranks * args_.job.batch,
                             .seconds = seconds(),
                             .traffic = traffic()});
  }
  finish();
}

void Worker::finish() {
  if (steps_done_ < args_.job.steps || unacknowledged_ > 0) return;
  const auto middle = step_times_.begin() + static_cast<std::ptrdiff_t>(step_times_.size() / 2);
  std::nth_element(step_times_.begin(), middle, step_times_.end());
  tell(observer_, WorkerDone{.worker = process().options().link.identity.name,
                             .steps = steps_done_,
                             .loss = last_loss_,
                             .seconds = seconds(),
                             .median_step_seconds = static_cast<double>(*middle) * 1e-9,
                             .traffic = traffic(),
                             .tensors = totals()});
}

}  // namespace sterna::actors
