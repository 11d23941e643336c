// CheckpointKeeper: makes checkpoints of the parts that servers and workers write, and gives those
// of a job that resumes the state that they go on from. One for each job, in the process that owns
// the run, on the machine where the checkpoints lie.
//
// Each writes its part on its own host, beside training, and tells. A part of another host is
// fetched, before its writer has its answer and begins another. When all of a version are here, the
// manifest is written: then it is a checkpoint. A part that was skipped or could not be written
// makes none of its version; that is counted, and the ones before stay as they are. So is one that
// was lost with a worker, which shows when a newer version has all of its own; what the next worker
// writes once more is the same.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/saved.h"
#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "runtime/actor/actor.h"
#include "runtime/actor/future.h"
#include "runtime/cluster/find_actor.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// The name under which the job's actors find it.
inline constexpr const char* kKeeperName = "checkpoints";

/// What a keeper has come to. Outlives it.
struct KeeperRecord {
  std::uint64_t made = 0;
  std::uint64_t skipped = 0;
  std::uint64_t last = 0;              ///< version of the newest checkpoint
  bool over = false;                   ///< the last version's is there, or will not be
  std::vector<std::string> said = {};  ///< why there is none of a version, a line each
  /// Of versions that were evaluated: filled by who hears of it.
  std::map<std::uint64_t, double> precisions = {};
  /// Makes one of the next version that all can still keep, which `soon` is then; null: there is
  /// nobody to make it, or none is to be made.
  std::function<void()> keep_soon = {};
  std::uint64_t soon = 0;  ///< 0: not known yet
};

/// Adds a version's precision@1 to its checkpoint in `folder`, where that is there by now.
Result<void> note_precision(const std::string& folder, std::uint64_t version,
                            double precision_at_1);

struct KeeperSetup {
  JobConfig job;
  std::string folder;    ///< of all checkpoints
  std::string resolved;  ///< the cluster file with every key explicit
  nets::Metadata note;   ///< as the manifests are to have it
  std::vector<std::string> servers;
  std::vector<std::string> workers;         ///< in the order of their ranks
  std::shared_ptr<const SavedState> state;  ///< of a job that resumes
  /// Those whose parts do not lie in `folder` but in their node's folder.
  std::map<std::string, ProcessId> elsewhere;

  std::shared_ptr<KeeperRecord> record;
  std::function<void(const std::string& line)> say;  ///< each of those lines, as it comes
  std::function<void(const SavedCheckpoint&)> committed;
};

class CheckpointKeeper final : public Actor<CheckpointKeeperInterface> {
 public:
  explicit CheckpointKeeper(KeeperSetup setup, Finder finder = find_any);
  ~CheckpointKeeper() override;

  Task<Result<void>> on(PartWritten part);
  Task<Result<StateValues>> on(ReadState question);

 private:
  struct Pending {
    std::map<std::string, Manifest::Part> parts;  ///< by actor
    std::set<std::string> heard;                  ///< also of those that wrote none
    std::string wrong;                            ///< why there will be none; empty: nothing is
  };

  void started() override;
  Task<Result<void>> find_writers();
  Task<Result<void>> name_versions();
  Task<void> keep_soon();
  /// Names the next that all can keep, so many versions ahead or more; 0: they are too fast.
  Task<Result<std::uint64_t>> name_next(std::uint64_t ahead);
  /// Whether all can keep it.
  Task<Result<bool>> name_version(std::uint64_t version);
  Task<Result<void>> tell_all(std::uint64_t version);
  Task<void> taking(std::string actor, PartWritten part, std::shared_ptr<bool> done);
  Task<void> take(std::string actor, PartWritten part);
  Task<Result<void>> fetch(ProcessId node, PartWritten part);
  Task<void> commit(std::uint64_t version);
  /// Versions before `version` of which a part will not come.
  void give_up_before(std::uint64_t version);
  void say_none(std::uint64_t version, const std::string& why);
  void over(std::uint64_t version);
  SavedCheckpoint checkpoint_of(std::uint64_t version, const Pending& pending) const;
  std::string folder_of(std::uint64_t version) const;

  KeeperSetup setup_;
  Finder finder_;
  std::set<std::string> writers_;
  std::deque<Peer<ParameterServerInterface>> servers_;
  std::deque<Peer<WorkerInterface>> workers_;
  std::map<std::uint64_t, Pending> pending_;
  Condition taken_;        // a part, or it never will be
  bool fetching_ = false;  // one part at a time: answers that wait in a link are bounded
  Condition fetched_;
  std::uint64_t reached_;      ///< the newest version that anybody was heard to be at
  std::uint64_t decided_ = 0;  ///< of versions up to this one nothing more is wanted
  std::uint64_t settled_ = 0;  // the newest version of which it is known whether there is one
  Condition settles_;
};

}  // namespace sterna::actors
