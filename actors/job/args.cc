#include "actors/job/args.h"

#include <algorithm>

#include "runtime/message/fields.h"

namespace sterna::actors {
namespace {

constexpr std::uint32_t kMostWorkers = 65536;  // each hosts a rank

Error wrong(const char* what) { return {Errc::invalid_argument, what}; }

/// The workers must host every rank once, or a step would never be complete.
Result<void> check_ranks(const ServerArgs& args) {
  std::vector<bool> hosted(args.job.ranks);
  std::uint64_t sum = 0;
  for (const WorkerRanks& worker : args.workers) {
    sum += worker.ranks;
    if (std::uint64_t{worker.first_rank} + worker.ranks > args.job.ranks) {
      return Error{Errc::invalid_argument, "worker " + worker.name + " hosts unknown ranks"};
    }
    for (std::uint32_t r = 0; r < worker.ranks; ++r) hosted[worker.first_rank + r] = true;
  }
  for (const bool rank : hosted) {
    if (!rank) return Error{Errc::invalid_argument, "a rank has no worker"};
  }
  if (sum != args.job.ranks) return Error{Errc::invalid_argument, "a rank has two workers"};
  return {};
}

}  // namespace

bool hosts(const std::vector<WorkerRanks>& workers, std::string_view name, std::uint32_t rank) {
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerRanks& worker) {
    return worker.name == name && rank >= worker.first_rank &&
           rank - worker.first_rank < worker.ranks;
  });
}

STERNA_FIELDS(WorkerRanks, FIELD(name, Name), FIELD(first_rank, FirstRank), FIELD(ranks, Ranks))

STERNA_MESSAGE(ServerArgs, FIELD(job, Job), FIELD(index, Index), FIELD(servers, Servers),
               FIELD(workers, Workers, at_most(kMostWorkers)), FIELD(evaluator, Evaluator),
               FIELD(keeper, Keeper))

Result<void> ServerArgs::check() const {
  if (index >= servers) return wrong("a server's index is not below the number of servers");
  if (job.resumes && keeper.empty()) return wrong("nobody has the checkpoint to resume from");
  return check_ranks(*this);
}

STERNA_MESSAGE(WorkerArgs, FIELD(job, Job), FIELD(first_rank, FirstRank), FIELD(ranks, Ranks),
               FIELD(servers, Servers), FIELD(readers, Readers), FIELD(observer, Observer),
               FIELD(keeper, Keeper))

Result<void> WorkerArgs::check() const {
  if (ranks == 0 || std::uint64_t{first_rank} + ranks > job.ranks) {
    return wrong("a worker hosts no rank, or one that the job lacks");
  }
  if (servers.empty() || readers.empty()) {
    return wrong("a worker needs a parameter server and an input reader");
  }
  if (job.resumes && keeper.empty()) return wrong("nobody has the checkpoint to resume from");
  if (job.shards > 0 && readers.size() != job.shards) {
    return wrong("a worker needs one input reader for each shard");
  }
  return {};
}

STERNA_MESSAGE(ReaderArgs, FIELD(job, Job), FIELD(workers, Workers, at_most(kMostWorkers)),
               FIELD(shard, Shard), FIELD(observer, Observer))

Result<void> ReaderArgs::check() const {
  if (shard == 0 || shard < job.shards) return {};
  return wrong("a reader's shard is not below the number of shards");
}

STERNA_MESSAGE(EvaluatorArgs, FIELD(job, Job), FIELD(servers, Servers, not_empty),
               FIELD(observer, Observer), FIELD(weights, Weights))

}  // namespace sterna::actors
