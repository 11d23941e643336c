// PartWriter: writes an actor's part of each version that it keeps, beside its computing and one
// after the other, and tells the keeper what became of it, or that it was skipped.
//
// On the actor's loop thread. It lives as long as the actor, and the keeper that it was found.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "actors/checkpoint/kept_version.h"
#include "actors/checkpoint/state_part.h"
#include "runtime/actor/task.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class PartWriter {
 public:
  /// What it takes of its actor.
  struct Means {
    std::function<void(Task<void>)> run;
    std::function<Task<PartWritten>(std::function<PartWritten()> work)> on_compute_thread;
  };

  /// `take`: the next part of `kept` that is to be written. `folder`: as of write_part().
  PartWriter(Process& process, Peer<CheckpointKeeperInterface>& keeper, std::string folder,
             KeptVersion& kept, std::function<std::optional<StatePart>()> take, Means means);

  /// Something may have been added to what is kept, or skipped.
  void write_next();

 private:
  Task<void> write(StatePart part);

  Process& process_;
  Peer<CheckpointKeeperInterface>& keeper_;
  std::string folder_;
  KeptVersion& kept_;
  std::function<std::optional<StatePart>()> take_;
  Means means_;
};

}  // namespace sterna::actors
