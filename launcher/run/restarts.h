// What becomes of a job that has lost an actor: whether all of it is started once more, and from
// which checkpoint. A synchronous job that goes on so ends with the bits of one that lost nobody.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "launcher/job/run_job.h"

namespace sterna::launcher {

/// A job that has been lost so often without a newer checkpoint would be lost again.
inline constexpr std::size_t kMostFromOneStep = 3;

class Restarts {
 public:
  /// Whether `outcome` is a loss that the job goes on after. If so, `job` is told from where.
  bool after(const JobOutcome& outcome, JobOptions& job);
  /// Whether the job that after() refused last was lost too often from one step: then it would be
  /// lost there again.
  bool stuck() const { return stuck_; }
  /// What went before becomes part of what the last job came to.
  void complete(JobOutcome& outcome) const;
  /// The last job's status with what went before; its rates and what is left are its own.
  RunStatus whole(RunStatus last) const;

 private:
  std::vector<Restart> made_;
  std::vector<ActorRestart> actor_restarts_;
  std::vector<ActorRestart> lost_workers_;
  std::vector<EvaluationResult> evaluations_;  ///< of steps that nobody does again
  Time lost_at_;
  Duration trained_{};        ///< before the last loss
  std::uint64_t missed_ = 0;  ///< checkpoints, until then
  std::uint64_t missed_copies_ = 0;
  std::uint64_t left_out_ = 0;
  /// Of evaluations that were due before, and that nobody makes any more.
  std::set<std::int64_t> skipped_steps_;
  std::uint64_t skipped_ = 0;  ///< those whose steps nobody knows
  std::uint64_t late_packets_ = 0;
  std::uint64_t lost_losses_ = 0;
  std::uint64_t lost_histograms_ = 0;
  std::uint64_t relinked_ = 0;
  std::int64_t first_step_ = 0;  ///< of the first attempt
  std::uint64_t residuals_lost_ = 0;
  std::uint64_t injected_faults_ = 0;
  bool stuck_ = false;
};

}  // namespace sterna::launcher
