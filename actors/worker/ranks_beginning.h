// RanksBeginning: where the ranks of a worker begin, so that no server lacks a packet of what a
// rank has pushed before: with the job, or in the place of a worker that was lost. There the
// servers say what they lack. Ranks that are in step all go on at the earliest step of which a
// packet of one is missing, else each at its own such push. What is pushed twice is ignored: of
// ranks in step it is the same bits.
//
// What a step needs of those before is there: its parameters and its scalers at the servers, and
// what error feedback keeps in memory that outlives the worker (kept_residuals.h). For that no rank
// begins to write what is left of its step before all packets of the steps before have arrived:
// then nobody will have to do those again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/server/shard_servers.h"
#include "runtime/actor/process.h"

namespace sterna::actors {

class RanksBeginning {
 public:
  /// With the job. `args` and `servers` stay as long as this does.
  RanksBeginning(Process& process, const WorkerArgs& args, std::deque<ShardServers>& servers)
      : process_(process), args_(args), servers_(servers), job_began_at_(args.job.first_step) {}

  /// Where ranks in step go on in the place of a lost worker. `earliest`: nothing is pushed of the
  /// steps before, which is known first. The job's first step becomes that (`args`) before anything
  /// else is asked of this. Errors: those of all servers of a shard, which they name.
  Task<Result<std::uint64_t>> find_step(std::function<void(std::uint64_t step)> earliest);
  /// Where ranks are not, of each its push.
  Task<Result<void>> find_pushes();

  /// The rank's first push here, and the first of its steps.
  std::uint64_t first_push_of(std::uint32_t rank) const;
  std::uint64_t first_step_of(std::uint32_t rank) const;
  /// Whether others have left what the rank's first step needs.
  bool goes_on(std::uint32_t rank) const { return first_push_of(rank) > job_began_at_; }
  /// What a worker before kept of versions up to this one is gone with it, or written.
  std::uint64_t newest_version() const { return std::max(newest_, args_.job.first_step); }

  /// By their place in the table: the scalers of the step before the first, of a job whose ranks go
  /// on in step and use those. Errors: the servers', which they name.
  Task<Result<std::vector<float>>> scalers_before(const ParameterTable& table);

 private:
  struct Lacking {
    std::vector<std::uint64_t> pushes;  ///< by rank: the earliest of which one lacks a packet
    std::uint64_t version = 0;          ///< the newest there is
    std::uint64_t earliest() const { return std::ranges::min(pushes); }
  };
  /// Asks all servers so, for each rank that pushes.
  Task<Result<Lacking>> lacking(Rejoin question);
  std::uint64_t incarnation() const { return process_.options().link.identity.incarnation; }

  Process& process_;
  const WorkerArgs& args_;
  std::deque<ShardServers>& servers_;
  std::uint64_t job_began_at_;
  std::vector<std::uint64_t> pushes_;  // by rank, where each has its own
  std::uint64_t newest_ = 0;
};

}  // namespace sterna::actors
