// CheckpointWriter: what an actor that has state does for its job's checkpoints, beside training.
// It writes its part of a version, one at a time, and tells the keeper what became of it; reads
// what it goes on from; and keeps copies of whole checkpoints, where it is asked to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/copy_holder.h"
#include "actors/checkpoint/kept_version.h"
#include "actors/checkpoint/read_state.h"
#include "actors/job/checkpoint.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// A member of its actor.
class CheckpointWriter {
 public:
  using OnComputeThread = CopyHolder::OnComputeThread;
  /// What is to be written next, where all of it is there.
  using TakePart = std::function<std::optional<StatePart>()>;

  /// Of the actor `own` of that process. `folder`: of the job's file, or empty (write_part()).
  CheckpointWriter(Process& process, LocalId own, std::string folder, OnComputeThread on_disk)
      : process_(process), own_(own), folder_(std::move(folder)), on_disk_(std::move(on_disk)) {}
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Once; before that it writes nothing.
  Task<Result<void>> find(Peer<CheckpointKeeperInterface> keeper);
  /// Of a job that goes on from a checkpoint, once the keeper is found: as read_state().
  Task<Result<std::vector<std::size_t>>> read(std::vector<StateTarget> targets, Duration patience);
  /// Says which versions were skipped, and writes what `take` has to be written, and what it then
  /// has, until that is nothing. `kept` hears when it is written; both live as long as the actor.
  void write(KeptVersion& kept, TakePart take);
  /// Whether `sender` is the keeper, or an actor of this process; anybody else's process is blamed.
  /// False, too, while the keeper is not known.
  bool may_name(ActorId sender);
  /// Before its handler waits for anything: `sender` has to be the keeper. Errors: those of
  /// CopyHolder.
  Task<Result<CopyKept>> copy(ActorId sender, KeepCopy what);

 private:
  Task<void> write_part(StatePart part, KeptVersion& kept, TakePart take);

  Process& process_;
  LocalId own_;
  std::string folder_;
  OnComputeThread on_disk_;
  std::optional<Peer<CheckpointKeeperInterface>> keeper_;
  CopyHolder copies_;
};

}  // namespace sterna::actors
