// Placer: what a value of cluster.placer does. Where the hosts come from, how node agents get onto
// them, and, where a queue of somebody else's keeps whole runs, how such a run is submitted, asked
// after and ended.
//
// One file a placer, placer_NAME.cc, and a word in placer.cc; what must be known of it before any
// host is asked is its row in launcher/cluster_file/placer.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/host/real_machine.h"
#include "runtime/host/spawner.h"
#include "runtime/remote/remote_placer.h"

namespace sterna::launcher {

/// What starting the node agents of one run takes.
struct NodeStart {
  RemoteBundle bundle;        ///< what the nodes run, where it is shipped
  std::string run_directory;  ///< absolute
  std::function<void(std::string_view)> progress;
  std::function<void(std::string_view)> say;  ///< what a person must do
  std::function<bool()> interrupted;
  bool unprepared = false;  ///< each when a node is to be started there
};

/// What a queue says of one of its jobs.
struct QueuedJob {
  std::string words;  ///< "job 17 is running on n[1-3] since 1:02", as people read it
  std::string state;  ///< the queue's own word, "RUNNING"; empty: it has forgotten the job
  std::string nodes;
  bool over = false;
  bool done = false;  ///< over, and its run has ended well
};

/// What `sterna up` gives to a queue, and hears.
struct Submission {
  std::string data;     ///< --data; empty: not given
  std::string run_dir;  ///< --run-dir; empty: a name of our own
  /// --again: so often the job goes back into the queue; null: as often as the queue's placer says.
  std::optional<std::uint64_t> again = {};
};
struct Submitted {
  std::string job;
  std::string run_directory;  ///< absolute
  std::string words;          ///< "Slurm's job 17: 2 nodes with 4 cpus each"
  std::string output;         ///< the file that the run's words go to
  std::string undo;           ///< the command that cancels it
};

/// A queue that keeps runs: it starts them when it likes and may end them.
class JobQueue {
 public:
  virtual ~JobQueue() = default;
  virtual std::string_view name() const = 0;
  /// The job that this process is in; empty: none.
  virtual std::string own_job() const = 0;
  virtual Result<Submitted> submit(RealMachine& machine, const ClusterFile& file,
                                   const Submission& what) const = 0;
  /// Fails where the queue does not answer.
  virtual Result<QueuedJob> look(RealMachine& machine, const std::string& job) const = 0;
  /// Cancels the job and waits until the queue has none of it any more, by force if need be. Fails
  /// if it is still there then.
  virtual Result<void> end(RealMachine& machine, const std::string& job) const = 0;
  /// Puts the job that this process is in back into the queue, which ends this process. Fails where
  /// somebody ends the job.
  virtual Result<void> put_back(RealMachine& machine, const std::string& job) const = 0;
  /// How often the job that this process is in was put back.
  virtual std::uint64_t times_again() const = 0;
  /// The command that submits a run of that directory once more.
  virtual std::string submit_again(const std::string& run_directory) const = 0;
  /// Calls `gone` once if the queue's hold on this process ends, while the result lives.
  virtual std::shared_ptr<void> watch(UvLoop& loop, std::function<void()> gone) const = 0;
  /// How far apart a job's processes may hear that it shall end.
  virtual Duration signals_take() const = 0;
};

class Placer {
 public:
  virtual ~Placer() = default;
  /// `file` on the hosts that it has here and now.
  virtual Result<ClusterFile> with_hosts(RealMachine& machine, ClusterFile file) const;
  /// How a node agent is put on a host that is another machine; none: it is not started from here.
  virtual std::optional<RemoteHost> way_to(const ClusterFile& file, const HostSection& host) const;
  /// Whether the program travels to the other hosts from here.
  virtual bool ships() const { return true; }
  /// Starts node agents, each on its host; null: all on this machine. May take as long as shipping
  /// a program does.
  virtual Result<std::unique_ptr<Spawner>> nodes(RealMachine& machine, const ClusterFile& file,
                                                 const NodeStart& start) const;
  /// Null: runs are kept by us.
  virtual const JobQueue* queue() const { return nullptr; }
};

/// By a name of placer_names(); else the first one.
const Placer& placer_named(std::string_view name);
inline const Placer& placer_of(const ClusterFile& file) {
  return placer_named(file.cluster.placer);
}

}  // namespace sterna::launcher
