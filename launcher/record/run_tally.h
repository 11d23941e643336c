// RunTally: what workers, readers, servers and the evaluator of a run tell of it, added up for the
// screen and the result.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/job/job.h"
#include "actors/job/observer.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/record/run_record.h"
#include "launcher/record/steps/step_losses.h"
#include "launcher/record/steps/step_totals.h"
#include "launcher/record/training_listener.h"

namespace sterna::launcher {

/// Believes what it is told: RunObserver knows who said it. `now` is of the loop's clock, and never
/// less than before.
class RunTally {
 public:
  /// Of the job's workers. `record` and `listener` outlive it.
  RunTally(RunRecord& record, const ClusterFile& file, const actors::JobConfig& job,
           TrainingListener& listener);

  /// How far a worker of this incarnation is: what those before it had counted is added.
  void progress(actors::Progress progress, std::uint64_t incarnation, Time now);
  void done(actors::WorkerDone done, std::uint64_t incarnation, Time now);
  void evaluated(actors::Evaluated evaluated, Time now);
  /// The last version is there.
  void finished(actors::JobFinished finished, Time now);
  void reader(actors::ReaderProgress progress, Time now);
  void server_waits(const actors::ServerWaits& waits, Time now);
  void watched(actors::Watched told);
  void residuals_lost(const actors::ResidualsLost& lost);

 private:
  double since_first_step(Time now) const;
  void begin(double seconds_ago, Time now);
  /// Adds what the worker's lost incarnations had counted.
  void go_on(actors::Progress& progress, std::uint64_t incarnation);
  /// Over the workers: what they sent and received, how far all of them are.
  void total(Time now);
  /// Of as many steps as all workers have done.
  StepMetrics step_metrics();
  /// Each step's loss, as far as it is known by these.
  void tell_losses(const std::vector<actors::RankLoss>& losses);
  /// All workers are done, or no version is left to make for those that are not.
  void training_is_over(Time now);

  RunRecord& record_;
  std::set<std::string> workers_;
  std::map<std::string, std::uint64_t> incarnations_;  ///< of the workers
  std::uint64_t known_lost_histograms_ = 0;            ///< as the worker said last
  bool shards_ = false;                                ///< each reader has its own examples
  std::string main_subset_;                            ///< of evaluations that stand for the run
  bool averages_ = false;                              ///< and they are of moving averages
  std::uint64_t job_steps_;
  StepLosses losses_;
  StepTotals totals_;
  TrainingListener& listener_;
};

}  // namespace sterna::launcher
