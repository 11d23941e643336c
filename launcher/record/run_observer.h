// RunObserver: the launcher's actor that hears from the workers and the evaluator, and keeps what
// the screen shows and the result says.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/job/job.h"
#include "actors/job/observer.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/record/recent_ratio.h"
#include "launcher/record/step_losses.h"
#include "launcher/view/confusion_csv.h"
#include "launcher/view/result_json.h"
#include "launcher/view/run_status.h"
#include "runtime/actor/actor.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// What a run has said so far. Outlives the actor that fills it.
struct RunRecord {
  RunStatus status;
  RunResult result;
  std::map<std::string, actors::Progress> progress;  ///< the latest of each worker
  /// What each had counted when it was lost: its next incarnation counts from 0.
  std::map<std::string, actors::Progress> progress_before;
  std::map<std::string, RecentRatio> data_waits;  ///< of each worker: seconds for data, and in all
  std::map<std::string, RecentRatio> readers;     ///< of each: pictures, and the seconds they took
  /// What each had done when it was lost, so that what its next incarnation counts goes on there.
  std::map<std::string, actors::ReaderProgress> readers_before;
  std::map<std::string, actors::ReaderProgress> readers_last;
  std::map<std::string, std::uint64_t> left_out;  ///< damaged examples, by reader
  std::optional<Time> first_step_began;
  std::optional<Time> first_step_seen;
  double median_step_seconds = 0;  ///< of the slowest worker, once done
  std::set<std::string> waiting;   ///< the servers that wait for the evaluator
  Duration waited{};               ///< of training, until `waited_at`: while some server did
  std::optional<Time> waited_at;
  RecentRatio waits;                   ///< of those seconds to all of the training
  std::optional<Confusion> confusion;  ///< of the last evaluation that has one
  std::set<std::string> workers_done;
  std::set<std::string> workers_lost;         ///< without which the run goes on
  std::set<std::set<std::string>> apart;      ///< pairs that do not reach each other
  std::vector<actors::TensorTotals> tensors;  ///< of the workers that are done
  bool finished = false;
};

class RunObserver final : public Actor<actors::Observer> {
 public:
  struct Hooks {
    std::function<void()> changed = nullptr;                            ///< something to show
    std::function<void(const StepMetrics&)> step = nullptr;             ///< a line for the metrics
    std::function<void(const LossMetrics&)> loss = nullptr;             ///< likewise, of each step
    std::function<void(const EvaluationResult&)> evaluation = nullptr;  ///< likewise
    /// Likewise, once for each at the end.
    std::function<void(const TensorMetrics&)> tensor = nullptr;
    std::function<void(const HistogramMetrics&)> histogram = nullptr;  ///< for a file of events
    std::function<void(const PictureMetrics&)> picture = nullptr;      ///< likewise
    /// A server in the place of a lost one can stand in for its partner.
    std::function<void(const PeerIdentity& server)> actor_whole = nullptr;
    std::function<void(const actors::ResidualsLost&)> residuals_lost = nullptr;
  };
  /// `file` says who the workers, the readers and the evaluator are: nobody else is believed.
  RunObserver(RunRecord& record, const ClusterFile& file, const actors::JobConfig& job,
              Hooks hooks);

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
  StepLosses losses_;
  Hooks hooks_;
};

/// Brings up to `now` how much of the training has waited for the evaluator.
void count_waits(RunRecord& record, Time now);

/// The line of each actor in the live view, from what the nodes report.
void update_actors(RunStatus& status, const StatusReport& report);
/// The end of an actor; `cause` of one that nobody wanted.
void mark_dead(RunStatus& status, const std::string& name, bool wanted, const std::string& cause);
/// An actor was lost and is started again: it is counted, with its cause `in_words`.
void note_actor_restart(RunRecord& record, const ProcessDown& down, const std::string& in_words);
/// A worker was lost, and the run goes on without it.
void note_loss(RunRecord& record, const ProcessDown& down, const std::string& in_words);
/// What a worker on a device was computed by: once for all who have the same.
void note_plans(RunResult& result, const std::string& worker, actors::DevicePlans by);
/// Of those that are not lost.
bool all_done(const RunRecord& record, const std::set<std::string>& workers);
/// A death in words, with the actor's host where the file has several: what is missing there (data,
/// memory, a folder) has to be put right there.
std::string death_in_words(const ClusterFile& file, const ProcessDown& down);

}  // namespace sterna::launcher
