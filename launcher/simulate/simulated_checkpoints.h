// SimulatedCheckpoints: what a simulated run keeps of itself, and how it goes on from that where an
// actor is lost that does not come again. Keeper, parts and manifests are those of `sterna run`, in
// real files: each host's in a folder of its name, the checkpoints in "checkpoints", all in the
// current folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/checkpoint/keeper.h"
#include "actors/job/job.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/run/restarts.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

class SimulatedCheckpoints {
 public:
  explicit SimulatedCheckpoints(const ClusterFile& file);

  /// The job, with where it begins.
  actors::JobConfig planned(actors::JobConfig job) const;
  /// Makes them of that job, whose actors are not started yet. `host_of`: where an actor is now.
  Result<void> keep(Cluster& cluster, const actors::JobConfig& job,
                    std::function<std::string(const std::string& actor)> host_of);
  /// Whether that of the end is there, or will not be.
  bool over() const { return record_->over; }
  /// Whether the run goes on after that loss; then planned() says from where.
  bool goes_on_after(const ProcessDown& failure);
  /// From where that is; 0: from the start.
  std::uint64_t step() const;

 private:
  JobOptions job_;
  Restarts restarts_;
  std::shared_ptr<actors::KeeperRecord> record_;
};

/// What happens to the files of a host, or to kOwnerFiles.
/// They are gone, until mount() brings them back: nothing is read or written.
void unmount(const std::string& host);
void mount(const std::string& host);
/// The second half of the file that was written last is zeros, as after a power cut; but for those
/// of the version that the run goes on from: that it has looked at.
void tear(const std::string& host, std::uint64_t from);

}  // namespace sterna::launcher
