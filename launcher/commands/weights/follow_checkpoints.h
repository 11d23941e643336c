// The checkpoints of a run beside which somebody else stands: those that are there, and those that
// come.
#pragma once

#include <functional>
#include <string>

#include "actors/checkpoint/saved.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"
#include "runtime/loop/loop.h"

namespace sterna::launcher {

/// Gives `visit` every checkpoint of a run's directory or of a folder of checkpoints, the oldest
/// first, each once, and looks twice a second for newer ones, until it answers false or the run is
/// over, which is said; also before there are any, or there is the directory. What is not whole is
/// said and passed over, what the run has removed meanwhile is passed over. Errors:
/// invalid_argument for one checkpoint, or a file; unavailable where the run is over and nothing
/// was visited; those of `visit`.
Result<void> follow_checkpoints(
    const std::string& path, Loop& loop, const Console& console,
    const std::function<Result<bool>(const actors::SavedCheckpoint&)>& visit);

}  // namespace sterna::launcher
