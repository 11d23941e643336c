// What each of the four actors is started with. Names are those of the directory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/job/job.h"

namespace sterna::actors {

/// Which ranks a worker hosts: [first_rank, first_rank + ranks).
struct WorkerRanks {
  std::string name;
  std::uint32_t first_rank = 0;
  std::uint32_t ranks = 1;
  bool operator==(const WorkerRanks&) const = default;
};

/// Whether a worker of this name hosts `rank`.
bool hosts(const std::vector<WorkerRanks>& workers, std::string_view name, std::uint32_t rank);

/// The types of actors that are workers, with servers and without.
inline constexpr const char* kWorkerType = "worker";
inline constexpr const char* kServingWorkerType = "serving_worker";

/// What a worker or an evaluator may compute on.
std::vector<std::string_view> compute_backends();

/// What the other server of a pair is called.
std::string replica_of(const std::string& server);

struct ServerArgs {
  using Wire = schema::ServerArgs;
  JobConfig job;
  std::uint32_t index = 0;    ///< the shard
  std::uint32_t servers = 1;  ///< of the whole job
  std::vector<WorkerRanks> workers;
  std::string evaluator;      ///< empty: none, and then no snapshots are kept
  std::string keeper;         ///< of checkpoints; empty: none are kept, nor resumed from
  std::string observer = {};  ///< empty: nobody is told
  std::string partner = {};   ///< who holds the same shard; empty: nobody does
  bool replica = false;       ///< of the two the one that keeps nothing for checkpoints
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(ServerArgs);
  bool operator==(const ServerArgs&) const = default;
};

struct WorkerArgs {
  using Wire = schema::WorkerArgs;
  JobConfig job;
  std::uint32_t first_rank = 0;
  std::uint32_t ranks = 1;
  std::vector<std::string> servers;  ///< in the order of their shards
  std::vector<std::string> readers;  ///< where there are shards: in their order
  std::string observer = "launcher";
  std::string keeper = {};  ///< of checkpoints; empty: none are kept, nor resumed from
  std::vector<std::string> replicas = {};  ///< of the servers, in their order; or none
  std::string backend = "cpu";             ///< one of compute_backends()
  std::string evaluator = {};              ///< who takes versions of a worker that has no servers
  /// What it computes on, of the GPUs that it sees; one may be there twice. None: the first.
  std::vector<std::uint32_t> devices = {};
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(WorkerArgs);
  bool operator==(const WorkerArgs&) const = default;
};

struct ReaderArgs {
  using Wire = schema::ReaderArgs;
  JobConfig job;
  std::vector<WorkerRanks> workers;  ///< who may ask for whose batches
  std::uint32_t shard = 0;           ///< of job.shards, where there are any
  std::string observer = {};         ///< empty: nobody is told
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(ReaderArgs);
  bool operator==(const ReaderArgs&) const = default;
};

struct EvaluatorArgs {
  using Wire = schema::EvaluatorArgs;
  JobConfig job;
  std::vector<std::string> servers;  ///< in the order of their shards
  std::string observer = "launcher";
  std::string weights;  ///< where the final weights go (safetensors); empty: nowhere
  std::vector<std::string> replicas = {};  ///< as a worker's
  std::string backend = "cpu";             ///< as a worker's; of GPUs the first that it sees
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(EvaluatorArgs);
  bool operator==(const EvaluatorArgs&) const = default;
};

}  // namespace sterna::actors
