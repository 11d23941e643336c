// JobListener: who hears how a job goes.
#pragma once

#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/record/event.h"
#include "launcher/record/run_record.h"
#include "launcher/record/training_listener.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

/// Called on the loop's thread, from run_job() only; each may be left as it is.
class JobListener : public TrainingListener {
 public:
  /// The record has changed.
  virtual void changed(const RunRecord& /*record*/) {}
  /// The coordinator can be dialled. An error ends the job, which has not begun then.
  virtual Result<void> started(Cluster& /*cluster*/) { return {}; }
  /// Where the file leaves it to the run: the codecs that it takes, before an actor starts.
  virtual void codecs_chosen(const GradientSection& /*gradient*/) {}
  /// Every actor runs.
  virtual void running() {}
  /// The coordinator was lost and has come again, and is dialled there now.
  virtual void coordinator_again(const Contact& /*contact*/) {}
  /// An operator made a host one of the run's.
  virtual void host_added(const std::string& /*name*/) {}
  /// An actor was lost, and is started again beside the others.
  virtual void actor_restarts(const ActorRestart& /*restart*/) {}
  /// A checkpoint that was due was not made: `line` says which and why.
  virtual void checkpoint_missed(const std::string& /*line*/) {}
  /// What happens beside training; its time is the hearer's.
  virtual void event(const Event& /*event*/) {}
  /// Said to who looks at the screen, whatever it shows otherwise.
  virtual void notice(const std::string& /*line*/) {}
};

}  // namespace sterna::launcher
