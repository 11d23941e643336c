#include "actors/worker/ranks_beginning.h"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sterna::actors {

Task<Result<std::uint64_t>> RanksBeginning::find_step(
    std::function<void(std::uint64_t step)> earliest) {
  Task<Result<Lacking>> asking = lacking({.incarnation = incarnation()});
  STERNA_CO_ASSIGN(const Lacking there, std::move(asking));
  // Of a job that is done its last step is computed once more: somebody may wait for its loss.
  std::uint64_t step = std::min(there.earliest(), args_.job.steps - 1);
  earliest(step);
  // A server that is in the place of a lost one lacks all from the step on that this worker, or the
  // one before, has told it.
  if (servers_.front().paired()) {
    Task<Result<Lacking>> asking_again = lacking({.incarnation = incarnation(), .patient = true});
    STERNA_CO_ASSIGN(const Lacking known, std::move(asking_again));
    step = std::min(step, known.earliest());
  }
  process_.log(fmt::format("going on at step {}, in place of a worker that was lost", step));
  co_return step;
}

Task<Result<void>> RanksBeginning::find_pushes() {
  Task<Result<Lacking>> asking = lacking({.incarnation = incarnation()});
  STERNA_CO_ASSIGN(Lacking there, std::move(asking));
  pushes_ = std::move(there.pushes);
  process_.log(fmt::format("going on at push {}, in place of a worker that was lost",
                           fmt::join(pushes_, ", ")));
  // What was kept of the last version may be there already, and is not written.
  newest_ = std::min(there.version, args_.job.steps - 1);
  co_return {};
}

std::uint64_t RanksBeginning::first_push_of(std::uint32_t rank) const {
  return pushes_.empty() ? args_.job.first_step : pushes_[rank - args_.first_rank];
}

std::uint64_t RanksBeginning::first_step_of(std::uint32_t rank) const {
  const JobConfig& job = args_.job;
  return job.first_own_step() + (first_push_of(rank) - job.first_step) * job.window();
}

Task<Result<RanksBeginning::Lacking>> RanksBeginning::lacking(Rejoin question) {
  struct Asked {
    std::uint32_t rank;
    ShardServers& servers;
    const std::string& name;
    Task<Result<Rejoined>> answer;
  };
  std::deque<Asked> all;
  std::uint32_t asking = 0;
  for (std::uint32_t i = 0; i < args_.ranks; ++i) {
    question.rank = args_.first_rank + i;
    if (!args_.job.pushes(question.rank)) continue;
    ++asking;
    for (ShardServers& servers : servers_) {
      for (ShardServers::Member& server : servers.members()) {
        all.push_back({i, servers, server.peer.name(),
                       servers.ask_one(server, question, args_.job.deadlines.start)});
      }
    }
  }
  Lacking found{.pushes = std::vector(args_.ranks, args_.job.steps)};
  std::map<const ShardServers*, std::uint32_t> silent;
  for (Asked& one : all) {
    Result<Rejoined> answer = co_await one.answer;
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

Task<Result<std::vector<float>>> RanksBeginning::scalers_before(const ParameterTable& table) {
  const RecallScalers question{
      .rank = args_.first_rank, .incarnation = incarnation(), .step = args_.job.first_step - 1};
  std::vector<float> scalers(table.scalers.size());
  for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
    ShardServers& server = servers_[shard];
    Task<Result<Agreed>> asking = server.ask(question, args_.job.deadlines.step);
    Result<Agreed> answer = co_await asking;
    STERNA_CO_ASSIGN(const Agreed agreed, std::move(answer).in("scalers from " + server.name()));
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < scalers.size(); ++i) {
      if (table.scalers[i].shard == shard) there.push_back(i);
    }
    if (agreed.values.size() != there.size()) {
      co_return Error{Errc::malformed,
                      "scalers from " + server.name() + ": the answer is to another question"};
    }
    for (std::size_t i = 0; i < there.size(); ++i) scalers[there[i]] = agreed.values[i];
  }
  co_return scalers;
}

}  // namespace sterna::actors
