#include "actors/job/args.h"

namespace sterna::actors {
namespace {

void put_names(capnp::List<capnp::Text>::Builder wire, const std::vector<std::string>& names) {
  for (std::uint32_t i = 0; i < names.size(); ++i) wire.set(i, names[i]);
}

std::vector<std::string> get_names(capnp::List<capnp::Text>::Reader wire) {
  std::vector<std::string> names;
  names.reserve(wire.size());
  for (const auto name : wire) names.emplace_back(name);
  return names;
}

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

void put_workers(capnp::List<schema::WorkerRanks>::Builder list,
                 const std::vector<WorkerRanks>& workers) {
  for (std::uint32_t i = 0; i < workers.size(); ++i) {
    list[i].setName(workers[i].name);
    list[i].setFirstRank(workers[i].first_rank);
    list[i].setRanks(workers[i].ranks);
  }
}

std::vector<WorkerRanks> get_workers(capnp::List<schema::WorkerRanks>::Reader list) {
  std::vector<WorkerRanks> workers;
  for (const auto worker : list) {
    workers.push_back({worker.getName(), worker.getFirstRank(), worker.getRanks()});
  }
  return workers;
}

}  // namespace

bool hosts(const std::vector<WorkerRanks>& workers, std::string_view name, std::uint32_t rank) {
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerRanks& worker) {
    return worker.name == name && rank >= worker.first_rank &&
           rank - worker.first_rank < worker.ranks;
  });
}

void ServerArgs::encode(Wire::Builder wire, WireWriter& writer) const {
  job.encode(wire.initJob(), writer);
  wire.setIndex(index);
  wire.setServers(servers);
  put_workers(wire.initWorkers(static_cast<unsigned>(workers.size())), workers);
  wire.setEvaluator(evaluator);
}

Result<ServerArgs> ServerArgs::decode(Wire::Reader wire, WireReader& reader) {
  ServerArgs args;
  STERNA_ASSIGN(args.job, JobConfig::decode(wire.getJob(), reader));
  args.index = wire.getIndex();
  args.servers = wire.getServers();
  args.workers = get_workers(wire.getWorkers());
  args.evaluator = wire.getEvaluator();
  if (args.index >= args.servers) {
    return Error{Errc::invalid_argument, "a server's index is not below the number of servers"};
  }
  STERNA_TRY(check_ranks(args));
  return args;
}

void WorkerArgs::encode(Wire::Builder wire, WireWriter& writer) const {
  job.encode(wire.initJob(), writer);
  wire.setFirstRank(first_rank);
  wire.setRanks(ranks);
  put_names(wire.initServers(static_cast<unsigned>(servers.size())), servers);
  put_names(wire.initReaders(static_cast<unsigned>(readers.size())), readers);
  wire.setObserver(observer);
}

Result<WorkerArgs> WorkerArgs::decode(Wire::Reader wire, WireReader& reader) {
  WorkerArgs args;
  STERNA_ASSIGN(args.job, JobConfig::decode(wire.getJob(), reader));
  args.first_rank = wire.getFirstRank();
  args.ranks = wire.getRanks();
  args.servers = get_names(wire.getServers());
  args.readers = get_names(wire.getReaders());
  args.observer = wire.getObserver();
  if (args.ranks == 0 || std::uint64_t{args.first_rank} + args.ranks > args.job.ranks) {
    return Error{Errc::invalid_argument, "a worker hosts no rank, or one that the job lacks"};
  }
  if (args.servers.empty() || args.readers.empty()) {
    return Error{Errc::invalid_argument, "a worker needs a parameter server and an input reader"};
  }
  if (args.job.shards > 0 && args.readers.size() != args.job.shards) {
    return Error{Errc::invalid_argument, "a worker needs one input reader for each shard"};
  }
  return args;
}

void ReaderArgs::encode(Wire::Builder wire, WireWriter& writer) const {
  job.encode(wire.initJob(), writer);
  put_workers(wire.initWorkers(static_cast<unsigned>(workers.size())), workers);
  wire.setShard(shard);
}

Result<ReaderArgs> ReaderArgs::decode(Wire::Reader wire, WireReader& reader) {
  ReaderArgs args;
  STERNA_ASSIGN(args.job, JobConfig::decode(wire.getJob(), reader));
  args.workers = get_workers(wire.getWorkers());
  args.shard = wire.getShard();
  if (args.shard > 0 && args.shard >= args.job.shards) {
    return Error{Errc::invalid_argument, "a reader's shard is not below the number of shards"};
  }
  return args;
}

void EvaluatorArgs::encode(Wire::Builder wire, WireWriter& writer) const {
  job.encode(wire.initJob(), writer);
  put_names(wire.initServers(static_cast<unsigned>(servers.size())), servers);
  wire.setObserver(observer);
  wire.setWeights(weights);
}

Result<EvaluatorArgs> EvaluatorArgs::decode(Wire::Reader wire, WireReader& reader) {
  EvaluatorArgs args;
  STERNA_ASSIGN(args.job, JobConfig::decode(wire.getJob(), reader));
  args.servers = get_names(wire.getServers());
  args.observer = wire.getObserver();
  args.weights = wire.getWeights();
  if (args.servers.empty()) {
    return Error{Errc::invalid_argument, "an evaluator needs a parameter server"};
  }
  return args;
}

}  // namespace sterna::actors
