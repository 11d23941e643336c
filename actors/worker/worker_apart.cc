// Ranks of a worker that exchange by themselves, each at its own pace: the newest parameters, one
// or several steps, a push.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::train_apart(Rank& rank) {
  const JobConfig& job = args_.job;
  for (std::uint64_t step = beginning_->first_step_of(rank.rank);; ++step) {
    enter(rank, step);
    rank.trace.begin(step);
    const Exchange exchange = policy_->exchange(step);
    batches_->ask(rank.rank, step);
    // The batch first, so that the parameters are as new as can be.
    const Time asked = now();
    Span starving = rank.trace.part(Part::batch);
    SharedBatch batch = std::make_shared<const Batch>();  // that fits nowhere
    if (rank.staging || batches_->has(rank.rank)) {
      STERNA_CO_ASSIGN(batch, take_batch(rank, step));
    }
    starving.end();
    meter_.waited_for_data(asked, now());
    if (exchange.pulls) {
      STERNA_CO_TRY(pull_newest(rank, exchange.push));
      co_await keep_passed(rank);
      if (rank.version >= job.steps) break;
    }
    co_await injected_delay(rank);
    STERNA_CO_TRY(forward(rank, step, std::move(batch)));
    stage_next(rank, step);
    STERNA_CO_ASSIGN(const nets::Net::Loss loss, backward(rank, {.step = step,
                                                                 .push = exchange.push,
                                                                 .version = rank.version,
                                                                 .pushes = exchange.pushes,
                                                                 .slots_begin = rank.slots_begin}));
    Span held = rank.trace.part(Part::scalers);
    STERNA_CO_TRY(encode_held(rank));
    held.end();
    if (meter_.add_apart(rank.rank, loss, rank.version, now())) {
      observer_->tell(meter_.progress(identity().name, traffic(), now()));
    }
  }
  rank.trace.end();
  meter_.ended();
  finish();
  co_return {};
}

Task<Result<void>> Worker::pull_newest(Rank& rank, std::uint64_t push) {
  const bool first = rank.step == beginning_->first_step_of(rank.rank);
  rank.seat->incoming->expect(first ? Pulled::all : Pulled::pushed);
  pulls_->newest(rank.pull, rank.step, push, first);
  Span waiting = rank.trace.part(Part::parameters);
  RankPushes& pushes = pushes_->of(rank.rank);
  while (rank.pull.waiting > 0 || pushes.unanswered > 0) co_await pushes.answered.wait();
  waiting.end();
  STERNA_CO_TRY(take_back_dropped(rank, push));
  rank.version = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::uint64_t>& bases = rank.seat->incoming->bases();
  for (std::uint32_t chunk = 0; chunk < bases.size(); ++chunk) {
    if (!table_->frozen(chunk)) rank.version = std::min(rank.version, bases[chunk]);
  }
  co_return {};
}

Result<void> Worker::take_back_dropped(Rank& rank, std::uint64_t push) {
  RankPushes& pushes = pushes_->of(rank.rank);
  const std::uint64_t first = beginning_->first_push_of(rank.rank);
  if (beginning_->goes_on(rank.rank) && push == first + 1) {
    rank.net->settle(pushes.repeated);
    log(fmt::format("rank {}: of its push {} the servers had {} chunks from the worker before",
                    rank.rank, first, pushes.repeated.size()));
  }
  pushes.repeated.clear();
  for (const Packet& packet : pushes.dropped) STERNA_TRY(rank.net->give_back(packet));
  pushes.dropped.clear();
  return {};
}

}  // namespace sterna::actors
