// KeptResiduals: what error feedback keeps of a worker's ranks, as far as it goes on from one
// worker to the next in its place. It lies in memory that outlives both, if the host has such, each
// pushing rank's in a place of its own: a rank goes on with all that the step before left there, or
// with zeros, and is then counted as one that lost it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "actors/encode/residuals.h"
#include "actors/parameters/parameter_table.h"
#include "actors/worker/worker_context.h"
#include "runtime/actor/kept_memory.h"

namespace sterna::actors {

class KeptResiduals {
 public:
  /// Ranks that go on without those of the step before.
  struct Lost {
    std::uint32_t ranks = 0;
    std::uint64_t from = 0;  ///< the first such step
  };
  /// Of a rank whose first step is `step`.
  using OnLost = std::function<void(std::uint64_t step)>;

  KeptResiduals(const WorkerContext& context, std::shared_ptr<const ParameterTable> table,
                OnLost lost)
      : context_(context), table_(std::move(table)), on_lost_(std::move(lost)) {}

  /// Before the first rank's: takes memory that outlives this process, where another worker may
  /// come in this one's place. Where the host has none it says so, and each rank has its own.
  Task<void> take_memory();
  /// Whether what the ranks keep lies there.
  bool outlive_worker() const { return memory_.has_value(); }

  /// Of a rank that begins with the job: zeros. None where the job has no error feedback.
  Residuals begin(std::uint32_t rank);
  /// Of a rank that goes on at `step`, its first here: what the step before left; or zeros, where
  /// that is not there whole and the job says so. Errors: not_found, where it does not.
  Result<Residuals> go_on(std::uint32_t rank, std::uint64_t step);
  const Lost& lost() const { return lost_; }

 private:
  /// As they lie there.
  Residuals place_of(std::uint32_t rank) const;

  const WorkerContext& context_;
  std::shared_ptr<const ParameterTable> table_;
  OnLost on_lost_;
  std::optional<KeptMemory::Region> memory_;
  Lost lost_;
};

}  // namespace sterna::actors
