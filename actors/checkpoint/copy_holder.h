// CopyHolder: keeps copies of whole checkpoints in the folder of the run on an actor's host, one at
// a time. The manifest comes last there, too: what has one can be gone on from as it lies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/job/checkpoint.h"
#include "runtime/actor/task.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// Within the run's folder on that host: "copies/step-000001000/", and beside them the cluster file
/// of the run, from which it can be gone on with there.
inline constexpr const char* kCopyFolder = "copies";
inline constexpr const char* kCopiedClusterFile = "resolved.toml";

class CopyHolder {
 public:
  using OnComputeThread = std::function<Task<Result<void>>(std::function<Result<void>()> work)>;

  /// Whether the sender of a KeepCopy is who may: the keeper. Errors: unavailable, where that is
  /// not known yet; permission, and the sender is blamed.
  static Result<void> may_ask(Process& process, ActorId sender,
                              const std::optional<Peer<CheckpointKeeperInterface>>& keeper);
  /// `keeper` is asked for the parts, a piece at a time. It, and the actor that `on_disk` is of,
  /// are there until the answer is. `own` is the folder of that actor's process (empty: the current
  /// one). What was begun and fails is removed.
  Task<Result<CopyKept>> keep(Peer<CheckpointKeeperInterface>& keeper, OnComputeThread on_disk,
                              std::string own, KeepCopy what);

 private:
  struct Begun;
  static Task<Result<CopyKept>> write(std::shared_ptr<Begun> begun,
                                      Peer<CheckpointKeeperInterface>& keeper,
                                      OnComputeThread on_disk, std::string own, KeepCopy what);
  std::weak_ptr<Begun> begun_;  // there while one is written
};

}  // namespace sterna::actors
