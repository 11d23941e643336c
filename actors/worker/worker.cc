#include "actors/worker/worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "actors/worker/net_memory.h"
#include "runtime/host/free_memory.h"

namespace sterna::actors {

Error Worker::at(std::uint64_t step, const std::string& with, const Error& error) {
  return {error.code,
          fmt::format("step {}, {}: {}: {}", step, with, name(error.code), error.message)};
}

void Worker::started() {
  start_trace(process(), args_.job.trace);
  trace_ = WorkerTrace(process().tracer());
  run(train());
}

Task<Result<void>> Worker::train() {
  STERNA_CO_ASSIGN(const Scheme scheme, find_scheme(args_.job.scheme.name));
  STERNA_CO_TRY(find_everyone());
  const std::uint64_t first = args_.job.first_step;
  bool restores = args_.job.resumes;
  if (identity().incarnation > 1) {
    STERNA_CO_TRY(rejoin());
    goes_on_ = args_.job.first_step > first;
    restores = restores && !goes_on_;
  }
  policy_ = scheme.worker(args_.job);
  STERNA_CO_TRY(make_replicas());
  if (!args_.keeper.empty()) {
    STERNA_CO_TRY(keeper_.emplace(*this, args_.keeper, args_.job.deadlines.start, finder_).find());
  }
  if (restores) {
    Task<Result<void>> restoring = restore();
    Result<void> restored = co_await std::move(restoring);
    STERNA_CO_TRY(std::move(restored).in("going on from a checkpoint"));
  }
  if (goes_on_) STERNA_CO_TRY(recall_scalers());
  if (!policy_->in_step()) {
    for (Rank& rank : ranks_) run(train_apart(rank));
    co_return {};
  }
  in_first_step_ = seats_.size();
  for (Seat& seat : seats_) seat.expect_version(*table_, Pulled::trained);
  pull(args_.job.first_step);
  for (Seat& seat : seats_) run(train_seat(seat));
  co_return {};
}

Task<Result<void>> Worker::find_everyone() {
  const Duration patience = args_.job.deadlines.start;
  STERNA_CO_ASSIGN(auto servers,
                   find_peers<ParameterServerInterface>(*this, args_.servers, patience, finder_));
  STERNA_CO_ASSIGN(auto readers,
                   find_peers<InputReaderInterface>(*this, args_.readers, patience, finder_));
  const std::uint64_t most = process().options().link.most_under_way();
  for (auto& server : servers) servers_.emplace_back(std::move(server), poster(), most);
  for (auto& reader : readers) readers_.emplace_back(std::move(reader), poster(), most);
  co_return co_await observer_.emplace(*this, args_.observer, patience, finder_).find();
}

Task<Result<void>> Worker::make_replicas() {
  const std::uint32_t replicas = replicas_of(args_.job, args_.ranks, cores_);
  std::optional<std::uint64_t> available = free_memory();
  if (const KeptMemory* kept = process().kept_memory(); kept != nullptr && available) {
    *available += kept->size();  // what a worker before took is this one's
  }
  STERNA_CO_TRY(check_nets_fit(args_.job, args_.ranks, replicas, available));
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < replicas; ++i) {
    Seat& seat = seats_.emplace_back();
    STERNA_CO_ASSIGN(seat.replica, compute([job = args_.job] { return Replica::make(job); }));
    if (!table_) {
      table_ = std::make_shared<const ParameterTable>(seat.replica->parameters(), args_.job,
                                                      static_cast<std::uint32_t>(servers_.size()));
      const bool in_step = policy_->in_step();
      groups_ = table_->pull_groups(in_step ? Pulled::trained : Pulled::pushed);
      if (!in_step) all_groups_ = table_->pull_groups(Pulled::all);
      Task<void> taking = take_residual_memory();
      co_await std::move(taking);
    }
    seat.bases.resize(table_->chunks.size(), args_.job.first_step);
    seat.replica->set_table(table_, process().loop(), [this, &seat, loop = poster()] {
      loop.post([this, &seat] { write_settled(seat); });
    });
    const std::uint32_t count = (args_.ranks - first) / (replicas - i);
    STERNA_CO_TRY(make_ranks(seat, args_.first_rank + first, count));
    first += count;
  }
  co_return {};
}

Result<void> Worker::make_ranks(Seat& seat, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t number = first; number < first + count; ++number) {
    Rank& rank = ranks_.emplace_back();
    rank.rank = number;
    rank.seat = &seat;
    rank.asked = args_.job.first_own_step();
    rank.version = rank.kept = rank.pushed = args_.job.first_step;
    seat.ranks.push_back(&rank);
    const Poster loop = poster();
    GradientEncoder::Events events;
    events.packets = [this, &rank, loop](std::uint64_t step, std::uint32_t shard,
                                         std::vector<Packet> packets) {
      loop.post([this, &rank, step, shard, packets = std::move(packets)]() mutable {
        push(rank, step, shard, std::move(packets));
      });
    };
    events.offers = [this, &rank, loop](std::uint64_t step, std::uint32_t shard,
                                        std::vector<Offer::OwnScaler> scalers) {
      loop.post([this, &rank, step, shard, scalers = std::move(scalers)]() mutable {
        run(agree(rank, step, shard, std::move(scalers)));
      });
    };
    STERNA_ASSIGN(Residuals residuals, residuals_of(number));
    STERNA_ASSIGN(rank.net,
                  RankNet::make(args_.job, number, seat.replica, count > 1, table_,
                                process().loop(), std::move(events), std::move(residuals)));
    rank.trace = RankTrace(process().tracer(), number, first_traced(args_.job.trace));
    rank.net->set_trace(process().tracer());
  }
  return {};
}

// ---- computing ----

Task<Result<void>> Worker::train_seat(Seat& seat) {
  for (std::uint64_t step = args_.job.first_step; step < args_.job.steps; ++step) {
    for (Rank* rank : seat.ranks) STERNA_CO_TRY(take_turn(*rank, step));
  }
  for (Rank* rank : seat.ranks) co_await end_of_steps(*rank);
  co_return {};
}

Task<Result<void>> Worker::take_turn(Rank& rank, std::uint64_t step) {
  rank.trace.begin(step);
  Span held;
  if (rank.encoding) held = rank.trace.part(Part::scalers);
  while (rank.encoding) co_await rank.encoded.wait();
  held.end();
  rank.step = step;
  ask_batches(rank, step);
  const Time asked = now();
  Span starving = rank.trace.part(Part::batch);
  STERNA_CO_ASSIGN(Batch batch, next_batch(rank, step));
  starving.end();
  if (rank.seat->readable > 0) {
    meter_.waited_for_data(std::max(asked, rank.seat->readable_since), now());
  }
  co_await injected_delay(rank);
  STERNA_CO_TRY(forward(rank, step, std::move(batch)));
  if (policy_->compares(step)) {
    const Span comparing = rank.trace.part(Part::keep);
    co_await compare(rank, step);
  }
  if (kept_.due(step)) {
    const Span keeping = rank.trace.part(Part::keep);
    while (!rank.net->may_begin(step)) co_await rank.agreed.wait();
    co_await keep_state(rank, step);
  }
  STERNA_CO_ASSIGN(const nets::Net::Loss loss,
                   backward(rank, RankStep{.step = step, .push = step, .version = step}));
  const bool first = rejoins_ && step == args_.job.first_step;
  if (first && rank.seat->last(rank) && --in_first_step_ == 0) pull(step + 1);
  rank.encoding = true;
  if (rank.seat->ranks.size() > 1) rank.trace.turn_over();
  run(finish_turn(rank, step, loss));
  co_return {};
}

Task<void> Worker::end_of_steps(Rank& rank) {
  rank.trace.end();
  while (rank.encoding) co_await rank.encoded.wait();
  rank.step = args_.job.steps;
  while (!rank.net->may_begin(rank.step)) co_await rank.agreed.wait();
  if (kept_.due(rank.step)) co_await keep_state(rank, rank.step);
}

Task<void> Worker::injected_delay(Rank& rank) {
  const Duration delay = delay_of(args_.job.delays, args_.job.seed, rank.rank, rank.step);
  if (delay == Duration::zero()) co_return;
  const Span delayed = rank.trace.part(Part::delay);
  co_await sleep(delay);
}

Task<Result<void>> Worker::forward(Rank& rank, std::uint64_t step, Batch batch) {
  const auto shared = std::make_shared<const Batch>(std::move(batch));
  std::uint32_t readable = 0;
  bool complete = false;
  while (!complete) {
    if (rank.seat->readable == readable) {
      const Span waiting = rank.trace.part(Part::parameters);
      while (rank.seat->readable == readable) co_await rank.seat->ready.wait();
    }
    readable = rank.seat->readable;
    meter_.begin(now());
    const Span computing = rank.trace.part(Part::forward);
    STERNA_CO_ASSIGN(complete, compute([net = rank.net, step, shared, readable] {
                       return net->forward(step, *shared, readable);
                     }));
  }
  co_return {};
}

Task<Result<nets::Net::Loss>> Worker::backward(Rank& rank, RankStep step) {
  if (step.pushes && !rank.net->may_begin(step.push)) {
    const Span waiting = rank.trace.part(Part::scalers);
    while (!rank.net->may_begin(step.push)) co_await rank.agreed.wait();
  }
  if (step.pushes) {
    Task<void> waiting = all_pushed(step.push);
    co_await std::move(waiting);
  }
  // What comes from here on is of the next version: it is made of this turn's gradients too.
  if (policy_->in_step() && rank.seat->last(rank)) {
    rank.seat->expect_version(*table_, Pulled::changing);
  }
  Span computing = rank.trace.part(Part::backward);
  STERNA_CO_ASSIGN(const nets::Net::Loss loss,
                   compute([net = rank.net, step] { return net->backward(step); }));
  computing.end();
  write_settled(*rank.seat);
  co_return loss;
}

Task<void> Worker::encode_held(Rank& rank) {
  while (rank.net->holds()) {
    const std::uint64_t before = rank.agreements;
    auto encoded = compute([net = rank.net] { net->encode_held(); });
    co_await std::move(encoded);
    if (rank.net->holds() && rank.agreements == before) co_await rank.agreed.wait();
  }
  rank.counts = rank.net->counts();
  if (auto watched = rank.net->take_watched()) tell(std::move(*watched));
}

Task<void> Worker::finish_turn(Rank& rank, std::uint64_t step, nets::Net::Loss loss) {
  co_await encode_held(rank);
  rank.encoding = false;
  rank.encoded.notify_all();
  rank.pushed = step + 1;
  pushed_.notify_all();
  step_done(step, rank, loss);
}

void Worker::Seat::expect_version(const ParameterTable& table, Pulled what) {
  missing.clear();
  for (const TableTensor& tensor : table.tensors) {
    missing.push_back(tensor.pulled(what) ? tensor.chunks : 0);
  }
  readable = 0;
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
  Server& server = servers_[group.shard];
  Need need = policy_->need(step);
  const bool steps = policy_->need(step + 1).kind == PayloadKind::GRADIENT;
  if (rejoins_ && step == args_.job.first_step && steps) need.kind = PayloadKind::STATE;
  const Pull question{.version = need.version,
                      .chunks = group.chunks,
                      .kind = need.kind,
                      .codec = group.frozen ? Codec::FP32 : need.codec};
  const std::uint64_t bytes = most_bytes(question, *table_, args_.job);
  const Time asked = now();
  Task<Result<Parameters>> answer =
      server.peer.ask_within(server.down, bytes, question, kWhileRanksCompute);
  Result<Parameters> parameters = co_await std::move(answer);
  trace_.asked(step, "pull", server.peer.name(), asked);
  const Span taking = trace_.takes_answer(step, question, process().id());
  const Result<void> taken = parameters ? take(std::move(*parameters), question, everyone())
                                        : Result<void>(parameters.error());
  if (!taken) co_return at(step, "parameters from " + server.peer.name(), taken.error());
  if (--groups_missing_ > 0) co_return {};
  const bool first = step == args_.job.first_step;
  if (first) groups_ = table_->pull_groups(Pulled::changing);
  // Else nothing of the next version can come before this one has been read.
  if (!first || !rejoins_) pull(step + 1);
  co_return {};
}

std::vector<Worker::Seat*> Worker::everyone() {
  std::vector<Seat*> seats;
  for (Seat& seat : seats_) seats.push_back(&seat);
  return seats;
}

Result<void> Worker::take(Parameters parameters, const Pull& question,
                          const std::vector<Seat*>& seats) {
  std::vector<std::uint64_t> sizes;
  for (const ParameterChunk& chunk : parameters.chunks) sizes.push_back(chunk.payload.size());
  Result<Parameters> opened = open_answer(std::move(parameters), question, *table_, args_.job,
                                          *pool_, seats_.front().replica->isa());
  if (!opened) return std::move(opened).error();
  const auto answer = std::make_shared<const Parameters>(std::move(*opened));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint32_t chunk = answer->chunks[i].chunk;
    traffic_.parameter_bytes += sizes[i];
    traffic_.parameter_elements += table_->chunks[chunk].count;
    seats.front()->replica->count_down(chunk, sizes[i]);  // they come once for all of these
  }
  for (Seat* seat : seats) {
    for (std::size_t i = 0; i < answer->chunks.size(); ++i) {
      seat->waiting.push_back({answer, i});
      seat->bases[answer->chunks[i].chunk] = answer->chunks[i].version;
    }
    write_settled(*seat);
  }
  return {};
}

void Worker::write_settled(Seat& seat) {
  const std::uint32_t settled = seat.replica->settled();
  const std::uint64_t step = seat.ranks.front()->step;
  const Time began = trace_.wants(step) ? trace_.now() : Time();
  const std::size_t wrote = std::erase_if(seat.waiting, [&](const Waiting& waiting) {
    const std::uint32_t chunk = waiting.answer->chunks[waiting.index].chunk;
    if (table_->chunks[chunk].tensor < settled) return false;
    seat.replica->take(*waiting.answer, waiting.index, seat.ranks.front()->net->local_steps());
    --seat.missing[table_->chunks[chunk].tensor];
    return true;
  });
  if (wrote > 0 && trace_.wants(step)) trace_.applied(step, began);
  const std::uint32_t before = seat.readable;
  while (seat.readable < seat.missing.size() && seat.missing[seat.readable] == 0) ++seat.readable;
  if (before == 0 && seat.readable > 0) seat.readable_since = now();
  if (seat.readable > before) seat.ready.notify_all();
}

Task<void> Worker::compare(const Rank& rank, std::uint64_t step) {
  auto hashed = compute([replica = rank.seat->replica] { return replica->hashes(); });
  const std::vector<Hash> hashes = co_await std::move(hashed);
  const std::uint64_t version = policy_->need(step).version;
  std::vector<Compare> by_shard(table_->shards, Compare{.version = version, .chunks = {}});
  for (std::uint32_t c = 0; c < hashes.size(); ++c) {
    const TableTensor& tensor = table_->tensors[table_->chunks[c].tensor];
    if (tensor.frozen || tensor.spec.role == nets::Role::statistic) continue;
    by_shard[table_->chunks[c].shard].chunks.push_back({.chunk = c, .hash = hashes[c]});
  }
  for (std::uint32_t shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].chunks.empty()) continue;
    ++unacknowledged_;
    run(compare_at(shard, rank.rank, std::move(by_shard[shard])));
  }
}

Task<Result<void>> Worker::compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare) {
  auto& server = servers_[shard].peer;
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
  auto& server = servers_[shard].peer;
  const Offer offer{.rank = rank.rank,
                    .incarnation = identity().incarnation,
                    .step = args_.job.takes_newest_scalers() ? rank.version : step,
                    .scalers = std::move(scalers)};
  const Time asked = now();
  Task<Result<Agreed>> answer = server.ask(offer, kWhileRanksCompute);
  Result<Agreed> agreed = co_await std::move(answer);
  trace_.asked(step, "agree with", server.name(), asked);
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
  for (Packet& packet : packets) {
    packet.base_version = policy_->in_step() ? step : rank.seat->bases[packet.chunk];
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
  ++rank.unanswered;
  ++under_way_[step];
  const Contribution made = policy_->contribution(step);
  run(send(rank, shard,
           Push{.rank = rank.rank,
                .incarnation = identity().incarnation,
                .step = step,
                .examples = made.examples,
                .kind = made.kind,
                .packets = std::move(packets)}));
}

Task<Result<void>> Worker::send(Rank& rank, std::uint32_t shard, Push push) {
  Server& server = servers_[shard];
  const std::uint64_t step = push.step;
  std::uint64_t bytes = 0;
  for (const Packet& packet : push.packets) bytes += packet.payload.size();
  const std::size_t packets = push.packets.size();
  std::vector<Packet> kept;  // until it is known whether they count
  if (!policy_->in_step() && args_.job.gradient.error_feedback) kept = push.packets;
  const Time asked = now();
  Span sending = trace_.sends(push);
  server.in_flight += bytes;
  trace_.in_flight(step, server.peer.name(), server.in_flight);
  Task<Result<PushReply>> answer =
      server.peer.ask_within(server.up, bytes, std::move(push), args_.job.deadlines.step);
  sending.end();
  const Result<PushReply> reply = co_await std::move(answer);
  server.in_flight -= bytes;
  trace_.in_flight(step, server.peer.name(), server.in_flight);
  trace_.asked(step, "push", server.peer.name(), asked);
  const Result<void> taken =
      reply ? take_verdicts(rank, *reply, packets, std::move(kept)) : Result<void>(reply.error());
  if (!taken) co_return at(step, "gradient to " + server.peer.name(), taken.error());
  --unacknowledged_;
  if (const auto left = under_way_.find(step); --left->second == 0) under_way_.erase(left);
  pushed_.notify_all();
  finish();
  co_return {};
}

}  // namespace sterna::actors
