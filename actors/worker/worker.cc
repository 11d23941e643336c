#include "actors/worker/worker.h"

#include <algorithm>

#include <fmt/format.h>

namespace sterna::actors {

void Worker::started() {
  start_trace(process(), args_.job.trace);
  trace_ = WorkerTrace(process().tracer());
  checkpoints_.emplace(
      process(), self().id.local, args_.job.checkpoint.folder,
      [this](std::function<Result<void>()> work) { return compute(std::move(work)); });
  run(train());
}

Task<Result<void>> Worker::train() {
  STERNA_CO_ASSIGN(const Scheme scheme, find_scheme(args_.job.scheme.name));
  // Before all that takes its time: from then on it may say which version is to be kept.
  if (!args_.keeper.empty()) {
    STERNA_CO_TRY(checkpoints_->find({*this, args_.keeper, args_.job.deadlines.start, finder_}));
  }
  if (devices_.empty()) {
    STERNA_CO_ASSIGN(devices_, compute([backend = args_.backend, which = args_.devices] {
                       return open_devices(backend, which);
                     }));
  }
  STERNA_CO_ASSIGN(BatchesAhead::Readers readers, find_everyone());
  beginning_.emplace(process(), args_, servers_);
  const std::uint64_t first = args_.job.first_step;
  const bool resumes = args_.job.resumes;
  if (identity().incarnation > 1) STERNA_CO_TRY(rejoin());
  const bool goes_on = args_.job.first_step > first;
  policy_ = scheme.worker(args_.job);
  make_parts(std::move(readers));
  STERNA_CO_TRY(make_replicas());
  if (resumes && !goes_on) {
    Task<Result<void>> restoring = restore();
    Result<void> restored = co_await restoring;
    STERNA_CO_TRY(std::move(restored).in("going on from a checkpoint"));
  }
  if (const KeptResiduals::Lost& lost = residuals_->lost(); lost.ranks > 0) {
    log(fmt::format("{} ranks go on without what error feedback kept of them", lost.ranks));
    observer_->tell(ResidualsLost{identity().name, identity().incarnation, lost.ranks, lost.from});
  }
  if (goes_on) STERNA_CO_TRY(recall_scalers());
  if (!policy_->in_step()) {
    for (Rank& rank : ranks_) run(train_apart(rank));
    co_return {};
  }
  if (exchanges()) run(exchanged_->make_all());
  in_first_step_ = seats_.size();
  for (Seat& seat : seats_) seat.incoming->expect(Pulled::trained);
  pulls_->begin(incoming());
  for (Seat& seat : seats_) run(train_seat(seat));
  co_return {};
}

Task<Result<BatchesAhead::Readers>> Worker::find_everyone() {
  const Duration patience = args_.job.deadlines.start;
  const std::uint64_t most = process().options().link.most_under_way();
  STERNA_CO_ASSIGN(servers_, find_servers(*this, poster(), most, args_.servers, args_.replicas,
                                          patience, args_.job.servers_come_again(), finder_));
  if (identity().incarnation == 1) begins_at_ = args_.job.first_step;
  begins_.notify_all();
  STERNA_CO_ASSIGN(auto readers,
                   find_peers<InputReaderInterface>(*this, args_.readers, patience, finder_));
  STERNA_CO_TRY(observer_.emplace(*this, args_.observer, patience, finder_).find());
  co_return readers;
}

void Worker::make_parts(BatchesAhead::Readers readers) {
  context_.emplace(WorkerContext{
      .process = process(),
      .args = args_,
      .policy = *policy_,
      .trace = trace_,
      .run = [this](Task<Result<void>> task) { run(std::move(task)); },
      .on_compute_thread = [this](std::function<void()> work) { return compute(std::move(work)); },
  });
  batches_.emplace(*context_, std::move(readers), poster(), pool_);
  pushes_.emplace(*context_, servers_, [this] { finish(); });
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
  enter(rank, step);
  batches_->ask(rank.rank, step);
  const Time asked = now();
  Span starving = rank.trace.part(Part::batch);
  STERNA_CO_ASSIGN(SharedBatch batch, take_batch(rank, step));
  starving.end();
  if (rank.seat->incoming->readable() > 0) {
    meter_.waited_for_data(std::max(asked, rank.seat->incoming->readable_since()), now());
  }
  co_await injected_delay(rank);
  STERNA_CO_TRY(forward(rank, step, std::move(batch)));
  stage_next(rank, step);
  // Of a replica once: its ranks have the same.
  if (policy_->compares(step) && rank.seat->first(rank)) {
    const Span comparing = rank.trace.part(Part::keep);
    STERNA_CO_TRY(compare(rank, step));
  }
  if (pushes(rank) && kept().due(step)) {
    const Span keeping = rank.trace.part(Part::keep);
    while (!rank.net->may_begin(step)) co_await rank.agreed.wait();
    co_await keep_state(rank, step);
  }
  STERNA_CO_ASSIGN(const nets::Net::Loss loss,
                   backward(rank, RankStep{.step = step, .push = step, .version = step}));
  const bool first = rejoins() && step == args_.job.first_step;
  if (first && rank.seat->last(rank) && --in_first_step_ == 0) {
    if (args_.job.servers_come_again()) {
      observer_->tell(ActorWhole{identity().name, identity().incarnation});
    }
    pulls_->next(step + 1);
  }
  rank.encoding = true;
  if (rank.seat->ranks.size() > 1) rank.trace.turn_over();
  run(finish_turn(rank, step, loss));
  co_return {};
}

void Worker::enter(Rank& rank, std::uint64_t step) {
  rank.step = step;
  if (rank.seat->first(rank)) rank.seat->incoming->note_step(step);
}

Task<void> Worker::end_of_steps(Rank& rank) {
  rank.trace.end();
  while (rank.encoding) co_await rank.encoded.wait();
  enter(rank, args_.job.steps);
  if (!pushes(rank)) co_return;
  while (!rank.net->may_begin(rank.step)) co_await rank.agreed.wait();
  if (kept().due(rank.step)) co_await keep_state(rank, rank.step);
}

Task<void> Worker::injected_delay(Rank& rank) {
  const Duration delay = delay_of(args_.job.delays, args_.job.seed, rank.rank, rank.step);
  if (delay == Duration::zero()) co_return;
  const Span delayed = rank.trace.part(Part::delay);
  co_await sleep(delay);
}

Task<Result<Worker::SharedBatch>> Worker::take_batch(Rank& rank, std::uint64_t step) {
  if (rank.staging) {
    Task<Result<SharedBatch>> staging = std::move(*rank.staging);
    rank.staging.reset();
    co_return co_await staging;
  }
  STERNA_CO_ASSIGN(Batch batch, batches_->next(rank.rank, step));
  co_return std::make_shared<const Batch>(std::move(batch));
}

void Worker::stage_next(const Rank& rank, std::uint64_t step) {
  const Seat& seat = *rank.seat;
  Rank& next = seat.after(rank);
  if (!seat.replica->stages() || !batches_->has(next.rank)) return;
  next.staging.emplace(stage(next, seat.first(next) ? step + 1 : step));
  next.staging->start();
}

Task<Result<Worker::SharedBatch>> Worker::stage(Rank& rank, std::uint64_t step) {
  STERNA_CO_ASSIGN(Batch batch, batches_->next(rank.rank, step));
  auto shared = std::make_shared<const Batch>(std::move(batch));
  STERNA_CO_TRY(compute([net = rank.net, step, shared] { return net->stage(step, *shared); }));
  co_return shared;
}

Task<Result<void>> Worker::forward(Rank& rank, std::uint64_t step, SharedBatch batch) {
  IncomingVersion& incoming = *rank.seat->incoming;
  std::uint32_t readable = 0;
  bool complete = false;
  while (!complete) {
    if (incoming.readable() == readable) {
      const Span waiting = rank.trace.part(Part::parameters);
      while (incoming.readable() == readable) co_await incoming.ready().wait();
    }
    readable = incoming.readable();
    meter_.begin(now());
    const Span computing = rank.trace.part(Part::forward);
    STERNA_CO_ASSIGN(complete, compute([net = rank.net, step, batch, readable] {
                       return net->forward(step, *batch, readable);
                     }));
  }
  co_return {};
}

Task<Result<nets::Net::Loss>> Worker::backward(Rank& rank, RankStep step) {
  const bool encodes = step.pushes && pushes(rank);
  if (encodes && !rank.net->may_begin(step.push)) {
    const Span waiting = rank.trace.part(Part::scalers);
    while (!rank.net->may_begin(step.push)) co_await rank.agreed.wait();
  }
  if (encodes) {
    Task<void> waiting = pushes_->all_pushed(step.push);
    co_await waiting;
  }
  if (averages()) {
    const Span waiting = rank.trace.part(Part::turn);
    Task<void> beginning = average_->begin(rank.rank, step.step);
    co_await beginning;
  }
  // What comes from here on is of the next version: it is made of this turn's gradients too.
  if (policy_->in_step() && rank.seat->last(rank)) {
    rank.seat->incoming->expect(Pulled::changing);
  }
  Span computing = rank.trace.part(Part::backward);
  STERNA_CO_ASSIGN(const nets::Net::Loss loss,
                   compute([net = rank.net, step] { return net->backward(step); }));
  computing.end();
  if (averages()) average_->added(rank.rank, step.step);
  rank.seat->incoming->write_settled();
  co_return loss;
}

Task<Result<void>> Worker::encode_held(Rank& rank) {
  while (rank.net->holds()) {
    const std::uint64_t before = rank.agreements;
    STERNA_CO_TRY(compute([net = rank.net] { return net->encode_held(); }));
    if (rank.net->holds() && rank.agreements == before) co_await rank.agreed.wait();
  }
  rank.counts = rank.net->counts();
  if (auto watched = rank.net->take_watched()) tell(std::move(*watched));
  co_return {};
}

Task<Result<void>> Worker::finish_turn(Rank& rank, std::uint64_t step, nets::Net::Loss loss) {
  if (averages()) {
    // Who does not push is done once what is made of all of them is encoded.
    Task<void> adding = pushes(rank) ? average_->until_complete(step)
                                     : pushes_->until_made(ranks_.front().rank, step);
    co_await adding;
  }
  if (pushes(rank)) STERNA_CO_TRY(encode_held(rank));
  rank.encoding = false;
  rank.encoded.notify_all();
  pushes_->made(rank.rank, step);
  step_done(step, rank, loss);
  co_return {};
}

// ---- gradients up ----

Task<Result<void>> Worker::agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                                 std::vector<Offer::OwnScaler> scalers) {
  const Offer offer{.rank = rank.rank,
                    .incarnation = identity().incarnation,
                    .step = args_.job.takes_newest_scalers() ? rank.version : step,
                    .scalers = std::move(scalers)};
  return pushes_->agree(step, shard, offer, [&rank, offer](const Agreed& agreed) {
    for (std::size_t i = 0; i < offer.scalers.size(); ++i) {
      rank.net->agree(offer.step, offer.scalers[i].index, agreed.values[i]);
    }
    ++rank.agreements;
    rank.agreed.notify_all();
  });
}

void Worker::push(Rank& rank, std::uint64_t step, std::uint32_t shard,
                  std::vector<Packet> packets) {
  if (exchanges()) {
    std::erase_if(packets, [&](const Packet& packet) {
      if (packet.payload.size() > 0) return false;
      exchanged_->packet_is_there(table_->chunks[packet.chunk].tensor);
      return true;
    });
    if (packets.empty()) return;
  }
  for (Packet& packet : packets) {
    packet.base_version = policy_->in_step() ? step : rank.seat->incoming->bases()[packet.chunk];
    if (computing(rank)) early_bytes_ += packet.payload.size();
  }
  pushes_->push(rank.rank, step, shard, std::move(packets));
}

bool Worker::computing(const Rank& rank) const {
  if (!averages()) return rank.net->computing();
  return std::ranges::any_of(ranks_, [](const Rank& one) { return one.net->computing(); });
}

// ---- parameters down ----

std::vector<IncomingVersion*> Worker::incoming() {
  std::vector<IncomingVersion*> all;
  for (Seat& seat : seats_) all.push_back(&*seat.incoming);
  return all;
}

Task<Result<void>> Worker::compare(const Rank& rank, std::uint64_t step) {
  STERNA_CO_ASSIGN(const std::vector<Hash> hashes,
                   compute([replica = rank.seat->replica] { return replica->hashes(); }));
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
  co_return {};
}

Task<Result<void>> Worker::compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare) {
  ShardServers& server = servers_[shard];
  const std::uint64_t version = compare.version;
  Task<Result<void>> answer = server.ask(std::move(compare), args_.job.deadlines.step);
  const Result<void> same = co_await answer;
  // In the place of a lost one the server may have nothing of that version.
  const bool unknown = !same && same.error().code == Errc::not_found;
  if (!same && !(unknown && args_.job.servers_come_again())) {
    co_return at_step(version,
                      fmt::format("parameters of rank {} compared with {}", rank, server.name()),
                      same.error());
  }
  --unacknowledged_;
  finish();
  co_return {};
}

}  // namespace sterna::actors
