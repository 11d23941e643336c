// RunObserver: the launcher's actor that hears from workers, readers, servers and the evaluator,
// and believes of each only what it says of itself.
#pragma once

#include <set>
#include <string>

#include "launcher/record/run_tally.h"
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
  /// Whether the message is from who it says, one of `who`; who lies about that is blamed.
  bool is_from(const std::string& name, const std::set<std::string>& who, const char* blame);
  bool from_worker(const std::string& name);
  bool from_evaluator();
  /// Of the sender, which is one of ours.
  std::uint64_t incarnation();

  std::set<std::string> workers_;
  std::set<std::string> readers_;
  std::set<std::string> servers_;
  std::string evaluator_;          ///< empty: none
  std::set<std::string> subsets_;  ///< that are evaluated
  std::uint32_t ranks_;            ///< of the job
  std::uint64_t job_steps_;
  RunTally tally_;
  Listener& listener_;
};

}  // namespace sterna::launcher
