// A worker in the place of one that was lost. Servers know the earliest step of which a packet of a
// rank is missing; all its ranks begin at the smallest. What is pushed twice is the same bits, and
// is ignored.
//
// What a step needs of those before is there: its parameters and its scalers at the servers, and
// what error feedback keeps in memory that outlives the worker. For that no rank begins to write
// what is left of its step before all packets of the steps before have arrived: then nobody will
// have to do those again.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::rejoin() {
  JobConfig& job = args_.job;
  if (!job.workers_come_again()) {
    co_return Error{Errc::invalid_argument, "ranks of this job do not go on in another worker"};
  }
  std::deque<Task<Result<Rejoined>>> all;
  std::deque<std::string> asked;
  for (std::uint32_t i = 0; i < args_.ranks; ++i) {
    for (Server& server : servers_) {
      const Rejoin question{.rank = args_.first_rank + i, .incarnation = identity().incarnation};
      all.push_back(server.peer.ask(question, job.deadlines.start));
      asked.push_back(server.peer.name());
    }
  }
  // Of a job that is done its last step is computed once more: somebody may wait for its loss.
  std::uint64_t step = job.steps - 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Result<Rejoined> answer = co_await std::move(all[i]);
    STERNA_CO_ASSIGN(const Rejoined there, std::move(answer).in(asked[i]));
    step = std::min(step, there.step);
  }
  log(fmt::format("going on at step {}, in place of a worker that was lost", step));
  rejoins_ = true;
  if (step <= job.first_step) co_return {};
  job.first_position = job.position_of(step);
  job.first_step = step;
  job.resumes = true;
  meter_ = ProgressMeter(args_);
  co_return {};
}

Task<void> Worker::all_pushed(std::uint64_t step) {
  if (!args_.job.workers_come_again()) co_return;
  const auto behind = [&] {
    return (!under_way_.empty() && under_way_.begin()->first < step) ||
           std::ranges::any_of(ranks_, [&](const Rank& rank) { return rank.pushed < step; });
  };
  while (behind()) co_await pushed_.wait();
}

Task<void> Worker::take_residual_memory() {
  const JobConfig& job = args_.job;
  if (!job.gradient.error_feedback || !job.workers_come_again()) co_return;
  KeptMemory* const memory = process().kept_memory();
  Result<KeptMemory::Region> taken = Error{Errc::unavailable, "this host keeps no memory for it"};
  if (memory != nullptr) {
    auto taking = compute([memory, bytes = args_.ranks * Residuals::bytes_of(job, *table_)] {
      return memory->take(bytes);
    });
    taken = co_await std::move(taking);
  }
  if (taken) {
    residual_memory_ = std::move(*taken);
  } else {
    log("what error feedback keeps will be lost with this worker: " + taken.error().message);
  }
}

Result<Residuals> Worker::residuals_of(std::uint32_t rank) const {
  const JobConfig& job = args_.job;
  if (!job.gradient.error_feedback) return Residuals();
  Residuals residuals(job, *table_);
  if (residual_memory_) {
    const std::size_t first = (rank - args_.first_rank) * Residuals::bytes_of(job, *table_);
    residuals = Residuals(job, *table_, *residual_memory_, first);
    if (!goes_on_) residuals.start_at(job.first_step);
  }
  if (goes_on_ && !residuals.whole_for(job.first_step)) {
    return Error{Errc::not_found, fmt::format("step {}: what error feedback kept of rank {} was "
                                              "lost with the worker before",
                                              job.first_step, rank)};
  }
  return residuals;
}

Task<Result<void>> Worker::recall_scalers() {
  if (args_.job.gradient.scaler != ScalerRule::last_step) co_return {};
  const RecallScalers question{.rank = args_.first_rank,
                               .incarnation = identity().incarnation,
                               .step = args_.job.first_step - 1};
  std::vector<float> scalers(table_->scalers.size());
  for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
    auto& server = servers_[shard].peer;
    Task<Result<Agreed>> asking = server.ask(question, args_.job.deadlines.step);
    Result<Agreed> answer = co_await std::move(asking);
    STERNA_CO_ASSIGN(const Agreed agreed, std::move(answer).in("scalers from " + server.name()));
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < scalers.size(); ++i) {
      if (table_->scalers[i].shard == shard) there.push_back(i);
    }
    if (agreed.values.size() != there.size()) {
      co_return Error{Errc::malformed,
                      "scalers from " + server.name() + ": the answer is to another question"};
    }
    for (std::size_t i = 0; i < there.size(); ++i) scalers[there[i]] = agreed.values[i];
  }
  for (Rank& rank : ranks_) rank.net->restore({.residuals = {}, .scalers = scalers});
  co_return {};
}

}  // namespace sterna::actors
