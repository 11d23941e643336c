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
//
// With checkpoint.copies each checkpoint that is there is then copied, whole, by an actor on
// another machine (copy_holder.h), which asks for it piece by piece; training does not wait for
// that.
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
  std::uint64_t copied = 0;            ///< the newest version of which a copy lies elsewhere
  std::uint64_t copies_missed = 0;     ///< of checkpoints that there are
  bool over = false;                   ///< the last version's is there, or will not be
  bool writes = false;                 ///< something is under way on disk
  std::vector<std::string> said = {};  ///< why there is none of a version, a line each
  /// Makes one of the next version that all can still keep, which `soon` is then; null: there is
  /// nobody to make it, or none is to be made.
  std::function<void()> keep_soon = {};
  std::uint64_t soon = 0;  ///< 0: not known yet
  /// From now on there is nobody of this name: checkpoints are made without its part. Null: there
  /// is nobody to make any.
  std::function<void(const std::string& writer)> do_without = {};
  /// A version was evaluated: its checkpoint, which may only be in the making, is to say so. Null:
  /// there is nobody to make any.
  std::function<void(std::uint64_t version, const MeasuredPrecision& precision)> measured = {};
};

/// Adds a version's precision to its checkpoint in `folder`, where that is there by now.
Result<void> note_precision(const std::string& folder, std::uint64_t version,
                            const MeasuredPrecision& precision);

/// Notes in the manifest of `checkpoint`, its folder, where a copy of it lies: "HOST:FOLDER".
Result<void> note_copy(const std::string& checkpoint, const std::string& at);

/// Who may keep copies: an actor on another machine than the checkpoints' folder.
struct CopyPlace {
  std::string actor;
  std::string host;
  bool is_server = false;  ///< else a worker
};

struct KeeperSetup {
  JobConfig job;
  std::string folder;    ///< of all checkpoints
  std::string run = {};  ///< what the manifests are to say of who made them
  bool shared = false;   ///< other runs' may lie in the folder
  std::string resolved;  ///< the cluster file with every key explicit
  nets::Metadata note;   ///< as the manifests are to have it
  std::vector<std::string> servers;
  std::vector<std::string> workers;         ///< in the order of their ranks
  bool is_evaluated = false;                ///< somebody will say how good versions are
  std::shared_ptr<const SavedState> state;  ///< of a job that resumes
  /// Where that actor's parts do not lie in `folder` now but in its node's folder: that node; null:
  /// all of them lie here.
  std::function<std::optional<ProcessId>(const std::string& actor)> node_of = nullptr;

  /// Of a job whose checkpoints are copied: who may keep them now, the one to prefer first.
  std::function<std::vector<CopyPlace>()> copy_places = nullptr;
  std::function<void(const std::string& line)> say_no_copy = nullptr;  ///< of which none, and why

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
  Task<Result<PartPiece>> on(ReadPart question);

 private:
  struct Pending {
    std::map<std::string, Manifest::Part> parts;  ///< by actor
    std::set<std::string> heard;                  ///< also of those that wrote none
    std::string wrong;                            ///< why there will be none; empty: nothing is
  };

  void started() override;
  /// Those that have never been found yet.
  Task<Result<void>> find_writers();
  Task<Result<void>> name_versions();
  Task<void> keep_soon();
  /// Names the next that all can keep, so many versions ahead or more; 0: they are too fast.
  Task<Result<std::uint64_t>> name_next(std::uint64_t ahead);
  /// Whether all can keep it.
  Task<Result<bool>> name_version(std::uint64_t version);
  void tell_all(std::uint64_t version);
  Task<void> tell(Peer<ParameterServerInterface>& server, std::uint64_t version);
  Task<void> taking(std::string actor, PartWritten part, std::shared_ptr<bool> done);
  Task<void> take(std::string actor, PartWritten part);
  Task<Result<void>> fetch(ProcessId node, std::string actor, PartWritten part);
  Task<void> commit(std::uint64_t version);
  /// What changes manifests and folders: on a compute thread, one after the other in the order in
  /// which it was asked for. Not of a task that an asker may end.
  Task<Result<void>> on_disk(std::function<Result<void>()> work);
  Task<void> remove(std::uint64_t version);
  Task<void> remove_old();
  void measured(std::uint64_t version, const MeasuredPrecision& precision);
  Task<void> note(std::uint64_t version, MeasuredPrecision precision);
  void do_without(const std::string& writer);
  Task<void> commit_if_pending(std::uint64_t version);
  /// Versions before `version` of which a part will not come.
  void give_up_before(std::uint64_t version);
  /// Of a checkpoint that is there. One at a time: those that are due meanwhile have none.
  Task<void> copy(SavedCheckpoint saved);
  Task<Result<CopyKept>> copy_at(CopyPlace place, SavedCheckpoint saved);
  void say_no_copy(std::uint64_t version, const std::string& why);
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
  std::uint64_t disk_turns_ = 0;  // taken
  std::uint64_t disk_turn_ = 0;   // whose it is
  Condition disk_free_;
  std::set<std::uint64_t> made_;  // by this one, removed or not
  std::map<std::uint64_t, MeasuredPrecision> precisions_;
  std::optional<SavedCheckpoint> copying_;
  std::string copies_at_;          ///< who makes that copy
  Condition copied_;               ///< or there will be none
  std::set<std::uint64_t> named_;  ///< versions that others were asked to keep
  std::uint64_t reached_;          ///< the newest version that anybody was heard to be at
  std::uint64_t decided_ = 0;      ///< of versions up to this one nothing more is wanted
  std::uint64_t settled_ = 0;      // the newest version of which it is known whether there is one
  Condition settles_;
};

}  // namespace sterna::actors
