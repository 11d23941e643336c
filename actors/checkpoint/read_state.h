// read_state: parts of a checkpoint's arrays into memory, asked of the keeper.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/job/checkpoint.h"
#include "runtime/actor/task.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// Where some elements of an array go.
struct StateTarget {
  std::string array;
  std::uint64_t first = 0;
  std::span<float> values;
};

/// Fills all targets; the indices of those of which the checkpoint has nothing, which stay as they
/// are. Errors: those of the questions, each of which may take `patience`; malformed.
Task<Result<std::vector<std::size_t>>> read_state(Peer<CheckpointKeeperInterface>& keeper,
                                                  ByteWindow& window,
                                                  std::vector<StateTarget> targets,
                                                  Duration patience);

}  // namespace sterna::actors
