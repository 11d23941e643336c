// RanksAverage: the one average that the ranks of a worker push (gradient.host), step by step. No
// rank adds to it before its first rank, which pushes it, has begun the step, and all ranks of the
// turns before have added theirs: side by side on several replicas ranks take turns in their order,
// replica by replica, so that few gradients are early (host_average.h).
//
// On the worker's loop thread; what is added comes from compute threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/encode/host_average.h"
#include "actors/job/args.h"
#include "runtime/actor/future.h"
#include "runtime/actor/task.h"

namespace sterna::actors {

class RanksAverage {
 public:
  /// Of all ranks of a worker, which take turns on so many `replicas`.
  RanksAverage(const WorkerArgs& args, std::uint32_t replicas, std::shared_ptr<HostAverage> sums);

  /// What they add to.
  const std::shared_ptr<HostAverage>& sums() const { return sums_; }

  /// Before a rank adds its gradients of `step`: the first begins the step, once all that was made
  /// of the one before is encoded; another waits for its turn.
  Task<void> begin(std::uint32_t rank, std::uint64_t step);
  /// The rank has added all of them.
  void added(std::uint32_t rank, std::uint64_t step);
  /// Until all have.
  Task<void> until_complete(std::uint64_t step);

 private:
  /// Whether a rank whose turn is before this one has not added its own.
  bool waits(std::size_t turn, std::uint64_t step) const;

  std::uint32_t first_rank_;
  std::uint32_t replicas_;
  std::shared_ptr<HostAverage> sums_;
  std::optional<std::uint64_t> step_;  // of which it is
  std::vector<std::uint64_t> added_;   // by rank: all of the steps before this one
  Condition changed_;                  // it is another step's, or a rank has added
};

}  // namespace sterna::actors
