// What a run goes on from, as its file and its command say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/checkpoint/saved.h"
#include "launcher/cluster_file/cluster_file.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Whether the run continues in its own directory (checkpoint.resume = true), which then may exist.
bool goes_on_in_place(const ClusterFile& file);

/// The newest whole one in `folder`, of this net, that leaves steps to be made; null where there is
/// none. `contents`: every byte of it is read.
std::shared_ptr<const actors::SavedCheckpoint> newest_with_steps_left(const std::string& folder,
                                                                      const std::string& net,
                                                                      std::uint64_t steps,
                                                                      bool contents);

/// Null where the run starts afresh: nothing is to be resumed, or its own directory has no
/// checkpoint yet. A run that was stopped behind its last step, before it had said how good that
/// is, goes on from the checkpoint before the last. Errors, each in a line that says what to do:
/// not_found and malformed for a checkpoint that is not there or not whole; invalid_argument for
/// one of another net, or one that leaves no step to be made.
Result<std::shared_ptr<const actors::SavedCheckpoint>> checkpoint_to_resume(
    const ClusterFile& file, const std::string& run_dir);

/// Where the newest whole checkpoint was looked for and found: why newer ones are not whole, a line
/// each. One that was never finished is no news.
std::vector<std::string> passed_over(const ClusterFile& file, const actors::SavedCheckpoint& found);

}  // namespace sterna::launcher
