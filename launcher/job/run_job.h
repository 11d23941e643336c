// A whole job from cluster file to result: what `sterna run` and `sterna bench train` have in
// common.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/checkpoint/saved.h"
#include "input/place/data_source.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/job_listener.h"
#include "launcher/job/planned_faults.h"
#include "launcher/job/program_check.h"
#include "runtime/cluster/cluster.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

struct JobOptions {
  ClusterFile file;
  input::DataLocation data;
  Time began;                 ///< when the user typed the command
  std::string run_directory;  ///< for the result; may be empty
  std::string weights;        ///< file for the final weights; empty: none
  std::string checkpoints;    ///< folder for them; empty: none
  /// The run's, which its checkpoints name (run_identity()).
  std::string identity;
  std::string resolved;  ///< the file with every key explicit, as checkpoints keep it
  /// What the job goes on from; null: nothing.
  std::shared_ptr<const actors::SavedCheckpoint> from;
  /// What was lost before: the last of it is why this job begins where it does.
  std::vector<Restart> restarts;
  bool begun = false;         ///< it ran before this process did, and lost whoever kept it
  std::string log_directory;  ///< one log per process; empty: standard error
  /// The run directory's name and more: what it is called on other hosts, where such a name is not
  /// to be in anybody's way.
  std::string id;
  std::uint64_t run = 0;  ///< 0: one is drawn
  Program program;        ///< what the run's processes are
  /// Starts the nodes; null, or what it returns is: all on this machine. Called once, before
  /// anything starts; may take as long as shipping a program does, and then looks whether the user
  /// has had enough.
  std::function<Result<std::unique_ptr<Spawner>>(std::function<void(std::string_view)> progress,
                                                 const std::function<bool()>& interrupted)>
      make_placer;
  std::vector<Contact> operators;  ///< who may look at the run and end it
  /// The [[inject.fault]]s that are over; null: none is.
  std::shared_ptr<PlannedFaults::Over> faults_over;
  /// The signal that told the run to end before this job could hear it; 0: none. Null: none can.
  std::function<int()> told_before;
};

/// How a job went: everything it said, and the exit code.
struct JobOutcome {
  RunRecord record;
  StopReport stop;
  bool started = false;  ///< coordinator and nodes were ready for actors
  bool interrupted = false;
  bool told_to_end = false;                   ///< then: by SIGTERM, as batch systems do
  std::optional<std::uint64_t> goes_on_from;  ///< the step of the checkpoint that it may go on from
  /// The command that does, of a job that would fail again as it is.
  std::string resume_when_mended;
  bool told_while_stopping = false;  ///< to end, in one way or the other, when it was over already
  /// An actor was killed, fell silent, or its host is gone: started again, the job may go on.
  bool lost = false;
  std::vector<std::string> lost_hosts;     ///< then: whose nodes are gone
  std::vector<std::string> drained_hosts;  ///< and those that somebody had emptied
  std::vector<std::string> added_hosts;    ///< or added
  Time ended;                              ///< done, or when the first death was heard of
  std::vector<std::string> left_behind;    ///< what could not be brought back: a line for each host
  std::string
      weights_left;  ///< of a job that is done: why its final weights are not here, and where
};

/// Runs the job in the foreground. `registry` is this program's. SIGINT and SIGTERM stop it,
/// SIGTERM after a checkpoint where it makes any and that takes no longer than cluster.grace; a
/// second one stops it without grace. The record is there also when the job failed;
/// `record.result.cause` says why then. The machine's log lines are the record's meanwhile.
JobOutcome run_job(RealMachine& machine, const Registry& registry, const JobOptions& options,
                   JobListener& listener);

}  // namespace sterna::launcher
