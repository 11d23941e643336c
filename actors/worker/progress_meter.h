// ProgressMeter: what a worker has come to say of its steps, from the losses of its ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "actors/job/args.h"
#include "actors/job/observer.h"
#include "nets/net.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class ProgressMeter {
 public:
  /// Between two reports that are neither the first step's nor the last one's.
  static constexpr Duration kInterval = std::chrono::milliseconds(100);

  explicit ProgressMeter(const WorkerArgs& args) : args_(args), steps_done_(args.job.first_step) {}

  /// The first forward pass begins; harmless later.
  void begin(Time now);
  /// A rank has had the parameters of its next step since `ready`, and waited until now for its
  /// batch. What passed before the first step began is not counted.
  void waited_for_data(Time ready, Time now);
  /// A rank is done with a step. Whether this is to be reported: all ranks are, and it is the first
  /// step, the last, or some time after the report before.
  bool add(std::uint64_t step, std::uint32_t rank, const nets::Net::Loss& loss, Time now);
  /// The same of a rank that steps at its own pace, from parameters of this version. It is reported
  /// of the first step of all, and some time after the report before.
  bool add_apart(std::uint32_t rank, const nets::Net::Loss& loss, std::uint64_t version, Time now);
  /// Such a rank makes no more steps.
  void ended() { ++ended_; }
  /// Whether all ranks are done with the last step.
  bool complete() const { return steps_done_ == args_.job.steps || ended_ == args_.ranks; }

  /// Takes the losses with it that no report has had before.
  Progress progress(std::string worker, const Traffic& traffic, Time now);
  /// Whether there are any of those.
  bool has_news() const { return !news_.empty(); }
  WorkerDone done(std::string worker, const Traffic& traffic, std::vector<TensorTotals> tensors,
                  Time now) const;

 private:
  struct Losses {
    std::vector<RankLoss> by_rank;
    std::uint32_t missing = 0;
  };
  /// Of one of the worker's ranks.
  RankLoss tell(std::uint64_t step, std::uint32_t rank, const nets::Net::Loss& loss);
  double seconds(Time now) const;
  std::uint64_t steps_here() const { return steps_done_ - args_.job.first_step; }
  /// The worker's loss: their mean.
  void set_last(const std::vector<RankLoss>& losses);
  void took(Duration step);

  WorkerArgs args_;
  std::map<std::uint64_t, Losses> losses_;  // of steps that are not done by all ranks
  std::uint64_t steps_done_;                // of the job, those before its first included
  std::uint64_t rank_steps_ = 0;            // of all ranks
  std::uint32_t ended_ = 0;
  std::map<std::uint32_t, RankLoss> apart_;  // the last of each rank, at its own pace
  std::deque<RankLoss> news_;                // that no report has had yet
  std::uint64_t lost_ = 0;                   // for which there was no room
  std::uint64_t times_ = 0;                  // that were put into the ring
  double last_loss_ = 0;
  double last_decay_loss_ = 0;
  bool began_ = false;
  Time began_at_;
  Time last_step_at_;
  Time last_report_at_;
  double data_seconds_ = 0;               // of all ranks together
  std::vector<std::int64_t> step_times_;  // of the last steps, a ring
};

}  // namespace sterna::actors
