#include "actors/job/args.h"

#include <algorithm>

#include "runtime/message/fields.h"

namespace sterna::actors {
namespace {

constexpr std::uint32_t kMostWorkers = 65536;  // each hosts a rank
constexpr std::uint32_t kMostDevices = 1024;

Error wrong(const char* what) { return {Errc::invalid_argument, what}; }

/// What travels as one is of one worker.
Result<void> check_averaged(const JobConfig& job, std::uint32_t first_rank, std::uint32_t ranks) {
  const std::uint32_t together = job.averaged_ranks;
  if (together == 1 || (ranks == together && job.pushes(first_rank))) return {};
  return wrong("ranks whose gradients are averaged are not those of one worker");
}

/// The workers must host every rank once, or a step would never be complete.
Result<void> check_ranks(const ServerArgs& args) {
  std::vector<bool> hosted(args.job.ranks);
  std::uint64_t sum = 0;
  for (const WorkerRanks& worker : args.workers) {
    sum += worker.ranks;
    STERNA_TRY(check_averaged(args.job, worker.first_rank, worker.ranks));
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

Result<void> check_replicas(const std::vector<std::string>& servers,
                            const std::vector<std::string>& replicas) {
  if (replicas.empty() || replicas.size() == servers.size()) return {};
  return wrong("not every server has a replica");
}

}  // namespace

bool hosts(const std::vector<WorkerRanks>& workers, std::string_view name, std::uint32_t rank) {
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerRanks& worker) {
    return worker.name == name && rank >= worker.first_rank &&
           rank - worker.first_rank < worker.ranks;
  });
}

std::vector<std::string_view> compute_backends() { return {"cpu", "cuda"}; }

std::string replica_of(const std::string& server) { return server + "-replica"; }

STERNA_FIELDS(WorkerRanks, FIELD(name, Name), FIELD(first_rank, FirstRank), FIELD(ranks, Ranks))

STERNA_MESSAGE(ServerArgs, FIELD(job, Job), FIELD(index, Index), FIELD(servers, Servers),
               FIELD(workers, Workers, at_most(kMostWorkers)), FIELD(evaluator, Evaluator),
               FIELD(keeper, Keeper), FIELD(observer, Observer), FIELD(partner, Partner),
               FIELD(replica, Replica))

Result<void> ServerArgs::check() const {
  if (!partner.empty() && !job.in_step() && job.offers_scalers()) {
    return wrong("two servers of a shard need ranks in step, or scalers of each rank's own");
  }
  if (!partner.empty() && !job.in_step() && job.names_evaluations()) {
    return wrong("two servers of a shard need ranks in step, or evaluations that are waited for");
  }
  if (index >= servers) return wrong("a server's index is not below the number of servers");
  if (job.resumes && keeper.empty()) return wrong("nobody has the checkpoint to resume from");
  return check_ranks(*this);
}

STERNA_MESSAGE(WorkerArgs, FIELD(job, Job), FIELD(first_rank, FirstRank), FIELD(ranks, Ranks),
               FIELD(servers, Servers), FIELD(readers, Readers), FIELD(observer, Observer),
               FIELD(keeper, Keeper), FIELD(replicas, Replicas), FIELD(backend, Backend),
               FIELD(evaluator, Evaluator), FIELD(devices, Devices, at_most(kMostDevices)))

Result<void> WorkerArgs::check() const {
  STERNA_TRY(check_replicas(servers, replicas));
  if (ranks == 0 || std::uint64_t{first_rank} + ranks > job.ranks) {
    return wrong("a worker hosts no rank, or one that the job lacks");
  }
  STERNA_TRY(check_averaged(job, first_rank, ranks));
  if (job.exchanges_within() && (!servers.empty() || ranks != job.ranks)) {
    return wrong("a worker without servers has all ranks");
  }
  if ((servers.empty() && !job.exchanges_within()) || readers.empty()) {
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
               FIELD(observer, Observer), FIELD(weights, Weights), FIELD(replicas, Replicas),
               FIELD(backend, Backend))

Result<void> EvaluatorArgs::check() const { return check_replicas(servers, replicas); }

}  // namespace sterna::actors
