// RunObserver: the launcher's actor that hears from the workers and the evaluator, and keeps what
// the screen shows and the result says.
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
#include "launcher/view/result_json.h"
#include "runtime/actor/actor.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

class RunObserver final : public Actor<actors::Observer> {
 public:
  class Listener : public TrainingListener {
   public:
    /// The record has.
    virtual void changed() {}
    /// A server in the place of a lost one can stand in for its partner.
    virtual void actor_whole(const PeerIdentity& /*server*/) {}
    virtual void residuals_lost(const actors::ResidualsLost& /*lost*/) {}
  };
  /// `file` says who the workers, the readers and the evaluator are: nobody else is believed.
  /// `record` and `listener` outlive it.
  RunObserver(RunRecord& record, const ClusterFile& file, const actors::JobConfig& job,
              Listener& listener);

  void on(actors::Progress progress);
  void on(actors::Evaluated evaluated);
  void on(actors::WorkerDone done);
  void on(actors::JobFinished finished);
  void on(actors::ReaderProgress progress);
  void on(actors::ServerWaits waits);
  void on(actors::ActorWhole whole);
  void on(actors::Watched told);
  void on(actors::ResidualsLost lost);

 private:
  double since_first_step() const;
  void total();
  /// All workers are done, or no version is left to make for those that are not.
  void training_is_over();
  /// Each step's loss, as far as it is known by these.
  void tell_losses(const std::vector<actors::RankLoss>& losses);
  /// Whether the message is from who it says, one of `who`; who lies about that is blamed.
  bool is_from(const std::string& name, const std::set<std::string>& who, const char* blame);
  bool from_worker(const std::string& name);
  bool from_evaluator();
  RunRecord& record_;
  /// Adds what the worker's lost incarnations had counted.
  void go_on(actors::Progress& progress);
  std::set<std::string> workers_;
  std::map<std::string, std::uint64_t> incarnations_;  ///< of the workers
  std::uint64_t known_lost_histograms_ = 0;            ///< as the worker said last
  std::set<std::string> readers_;
  bool shards_ = false;  ///< each reader has its own examples
  std::set<std::string> servers_;
  std::string evaluator_;    ///< empty: none
  std::string main_subset_;  ///< of evaluations that stand for the run
  bool averages_ = false;    ///< and they are of moving averages
  std::uint32_t ranks_;      ///< of the job
  std::uint64_t job_steps_;
  StepLosses losses_;
  StepTotals totals_;
  Listener& listener_;
};

}  // namespace sterna::launcher
