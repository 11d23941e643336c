// A worker in the place of one that was lost. Servers know the earliest step of which a packet of a
// rank is missing; all its ranks begin at the smallest. What is pushed twice is the same bits, and
// is ignored.
//
// What a step needs of those before is there: its parameters and its scalers at the servers, and
// what error feedback keeps in memory that outlives the worker, but not its host: where that is
// gone ranks go on without, if the job says so (gradient.residuals). For that no rank begins to
// write what is left of its step before all packets of the steps before have arrived: then nobody
// will have to do those again.
#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::rejoin() {
  JobConfig& job = args_.job;
  if (!job.workers_come_again()) {
    co_return Error{Errc::invalid_argument, "ranks of this job do not go on in another worker"};
  }
  Task<Result<Lacking>> asking = lacking(false);
  STERNA_CO_ASSIGN(Lacking there, std::move(asking));
  if (!job.in_step()) {
    go_on_apart(std::move(there));
    co_return {};
  }
  // Of a job that is done its last step is computed once more: somebody may wait for its loss.
  std::uint64_t step = std::min(there.earliest(), job.steps - 1);
  begins_at_ = step;
  begins_.notify_all();
  // A server that is in the place of a lost one lacks all from the step on that this worker, or the
  // one before, has told it.
  if (paired()) {
    Task<Result<Lacking>> asking_again = lacking(true);
    STERNA_CO_ASSIGN(const Lacking known, std::move(asking_again));
    step = std::min(step, known.earliest());
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

void Worker::go_on_apart(Lacking lacking) {
  lacked_ = std::move(lacking);
  log(fmt::format("going on at push {}, in place of a worker that was lost",
                  fmt::join(lacked_.pushes, ", ")));
  // What the one before kept of versions up to the newest is gone with it, or written; but for the
  // last, which may be there already.
  lacked_.version = std::min(lacked_.version, args_.job.steps - 1);
  kept_.begin_behind(lacked_.version);
}

std::uint64_t Worker::first_push_of(std::uint32_t rank) const {
  return lacked_.pushes.empty() ? args_.job.first_step : lacked_.pushes[rank - args_.first_rank];
}

std::uint64_t Worker::first_step_of(const Rank& rank) const {
  const JobConfig& job = args_.job;
  return job.first_own_step() + (first_push_of(rank.rank) - job.first_step) * job.window();
}

Task<Result<Worker::Lacking>> Worker::lacking(bool patient) {
  struct Asked {
    std::uint32_t rank;
    ShardServers& servers;
    const std::string& name;
    Task<Result<Rejoined>> answer;
  };
  std::deque<Asked> all;
  std::uint32_t asking = 0;
  for (std::uint32_t i = 0; i < args_.ranks; ++i) {
    if (!args_.job.pushes(args_.first_rank + i)) continue;
    ++asking;
    for (ShardServers& servers : servers_) {
      for (ShardServers::Member& server : servers.members()) {
        const Rejoin question{.rank = args_.first_rank + i,
                              .incarnation = identity().incarnation,
                              .patient = patient};
        all.push_back({i, servers, server.peer.name(),
                       servers.ask_one(server, question, args_.job.deadlines.start)});
      }
    }
  }
  Lacking found{.pushes = std::vector(args_.ranks, args_.job.steps)};
  std::map<const ShardServers*, std::uint32_t> silent;
  for (Asked& one : all) {
    Result<Rejoined> answer = co_await std::move(one.answer);
    const bool may_be = !answer && one.servers.is_of_one(answer.error());
    // Of two one may be lost, or not know yet.
    if (may_be && ++silent[&one.servers] <= asking) continue;
    STERNA_CO_ASSIGN(const Rejoined there, std::move(answer).in(one.name));
    std::uint64_t& push = found.pushes[one.rank];
    push = std::min(push, std::max(there.step, args_.job.first_step));
    found.version = std::max(found.version, there.version);
  }
  co_return found;
}

Task<Result<Enlisted>> Worker::on(Enlist) {
  const ActorId from = sender();
  while (!begins_at_) co_await begins_.wait();
  // Of the step that a rank is in something may have been pushed.
  std::uint64_t step = *begins_at_ + 1;
  for (const Rank& rank : ranks_) step = std::max(step, rank.step + 1);
  STERNA_CO_TRY(enlist(servers_, process(), from, step));
  co_return Enlisted{step};
}

Task<Result<void>> Worker::recall_scalers() {
  if (args_.job.gradient.scaler != ScalerRule::last_step) co_return {};
  const RecallScalers question{.rank = args_.first_rank,
                               .incarnation = identity().incarnation,
                               .step = args_.job.first_step - 1};
  std::vector<float> scalers(table_->scalers.size());
  for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
    ShardServers& server = servers_[shard];
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
  for (Rank& rank : ranks_) {
    if (pushes(rank)) rank.net->restore({.residuals = {}, .scalers = scalers});
  }
  co_return {};
}

}  // namespace sterna::actors
