// ServedShard: what the server and the worker of a job without servers share, besides messages:
// both live on one loop, and either may be gone first.
#pragma once

#include <functional>

#include "actors/server/shard.h"
#include "runtime/actor/future.h"

namespace sterna::actors {

struct ServedShard {
  Shard* shard = nullptr;  ///< null before the first answer of its server, and once that is gone
  /// Updates may begin that could not.
  Condition released;
  /// To the server: chunks have a new version, some of what is kept has been added, or updates wait
  /// for the evaluator.
  std::function<void()> changed = [] {};
};

}  // namespace sterna::actors
