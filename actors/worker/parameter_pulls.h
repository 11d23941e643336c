// ParameterPulls: how the versions that servers make come to a worker's replicas. Where all ranks
// are in step each version is asked for a step ahead, once for all replicas; else each rank asks
// for the newest, for its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/messages.h"
#include "actors/job/observer.h"
#include "actors/parameters/parameter_table.h"
#include "actors/server/shard_servers.h"
#include "actors/worker/ranks/incoming_version.h"
#include "actors/worker/worker_context.h"

namespace sterna::actors {

/// A rank that pulls by itself.
struct RankPull {
  std::uint32_t rank = 0;
  IncomingVersion* incoming = nullptr;
  std::function<void()> came;  ///< another answer has
  std::size_t waiting = 0;     ///< for so many
};

class ParameterPulls {
 public:
  struct Options {
    /// This worker has what the job begins with: it is in nobody's place.
    bool begins = true;
    /// It goes on in step in the place of a lost one, and first takes the state whole.
    bool rejoins = false;
    /// Its devices make all versions but the first.
    bool exchanges = false;
    /// All of a version is here.
    std::function<void(std::uint64_t version)> came;
  };
  using To = std::vector<IncomingVersion*>;

  /// `servers` stay as long as this does. Answers are opened in `pool`.
  ParameterPulls(const WorkerContext& context, std::deque<ShardServers>& servers,
                 std::shared_ptr<const ParameterTable> table, std::shared_ptr<BufferPool> pool,
                 Options options);

  /// Where all are in step: the job's first version, and each next one once the one before is here,
  /// which is of one that rejoins for next() to say.
  void begin(To all);
  /// Asks for what `step` needs: each server answers the moment that a chunk has its next version.
  void next(std::uint64_t step);
  /// Asks for the newest that has all of the rank's pushes before `push`, for its `step`; `first`:
  /// of all tensors, as it has none yet.
  void newest(RankPull& rank, std::uint64_t step, std::uint64_t push, bool first);

  /// The newest version of a chunk that has come; nothing: none has to this worker.
  std::optional<std::uint64_t> held(std::uint32_t chunk) const { return held_[chunk]; }
  /// What came so far.
  const Traffic& traffic() const { return traffic_; }

 private:
  Task<Result<void>> pull_group(std::uint64_t step, const ParameterTable::PullGroup& group);
  Task<Result<void>> pull_newest(RankPull& rank, std::uint64_t step, std::uint64_t push,
                                 const ParameterTable::PullGroup& group);
  /// Of the answer's chunks each of `to` makes its own next version.
  Result<void> take(Parameters parameters, const Pull& question, const To& to);

  const WorkerContext& context_;
  std::deque<ShardServers>& servers_;
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<BufferPool> pool_;
  Options options_;
  To all_;
  std::vector<ParameterTable::PullGroup> groups_;      // of the next pull
  std::vector<ParameterTable::PullGroup> all_groups_;  // of a rank's first, where each pulls
  std::size_t groups_missing_ = 0;
  std::vector<std::optional<std::uint64_t>> held_;  // by chunk
  Traffic traffic_;
};

}  // namespace sterna::actors
