// What a run goes on from, as its file and its command say, and what it keeps to go on from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/keeper.h"
#include "actors/checkpoint/saved.h"
#include "actors/job/job.h"
#include "input/files/folder_lock.h"
#include "input/place/data_source.h"
#include "launcher/cluster_file/cluster_file.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Whether the run continues in its own directory (checkpoint.resume = true), which then may exist.
bool goes_on_in_place(const ClusterFile& file);

/// The file of a run that is begun again in its own directory: it goes on from its newest
/// checkpoint; where it has none yet, it begins as it did. In a folder that the file names only
/// what the run made is its own. What codec = "auto" chose stays chosen.
ClusterFile begun_again(ClusterFile file, const std::string& run_dir);

/// Whose checkpoints the run of this identity may go on from by itself: its own, where the file
/// names a folder, in which others' may lie; empty: all of its directory's.
std::string only_of(const ClusterFile& file, const std::string& identity);

/// The same of a run that is to be resumed as its file says: where nothing is its own, or the file
/// says which to take, those of any.
std::string run_to_resume(const ClusterFile& file, const std::string& run_dir);

/// The newest whole one in `folder`, of this net, that leaves steps to be made; null where there is
/// none. `contents`: every byte of it is read. `run`: that run's alone; empty: any.
std::shared_ptr<const actors::SavedCheckpoint> newest_with_steps_left(const std::string& folder,
                                                                      const std::string& net,
                                                                      std::uint64_t steps,
                                                                      bool contents,
                                                                      const std::string& run = "");

/// Where the checkpoints lie that the run may go on from, or the one that its file names.
std::string folder_to_resume(const ClusterFile& file, const std::string& run_dir);

/// The folder that the file names for its checkpoints, if it makes any: no other run may write
/// there meanwhile. Errors, each in a line that says what to do: where it can take none, as all of
/// the run would go without; already_exists where another run has it.
Result<std::optional<input::FolderLock>> take_checkpoint_folder(const ClusterFile& file);

/// Null where the run starts afresh: nothing is to be resumed, or its own directory has no
/// checkpoint yet. A run that was stopped behind its last step, before it had said how good that
/// is, goes on from the checkpoint before the last. Errors, each in a line that says what to do:
/// not_found and malformed for a checkpoint that is not there or not whole; invalid_argument for
/// one of another net, or one that leaves no step to be made.
Result<std::shared_ptr<const actors::SavedCheckpoint>> checkpoint_to_resume(
    const ClusterFile& file, const std::string& run_dir);

/// Whether a run that goes on from that, null: from nothing, may write into this directory, which
/// need not be there: `from` is a checkpoint of the run in it, or it is empty, or its run has not
/// ended. Else already_exists, in a line: what lies there would be replaced.
Result<void> check_may_write_into(const std::string& run_dir, const ClusterFile& file,
                                  const actors::SavedCheckpoint* from);

/// The job, where it goes on from that; null: nothing.
actors::JobConfig going_on_from(const actors::SavedCheckpoint* from, actors::JobConfig job);

/// What keeps a job's checkpoints in `folder`, and gives its actors what they go on from; who is
/// told of them, and where parts lie, is left open. Errors: those of reading.
Result<actors::KeeperSetup> keeper_setup_of(const ClusterFile& file, const actors::JobConfig& job,
                                            const input::DataLocation& data,
                                            const actors::SavedCheckpoint* from,
                                            const std::string& folder);

/// The command that goes on with a run from its own newest checkpoint, word for word: of the file
/// that its directory (absolute) has, with every key explicit. `command`: "run", or "up".
std::string resume_command(const std::string& command, const std::string& run_directory);
/// The same behind a command that starts it: `sterna run FILE --set ...`.
std::string with_resume(const std::string& starts_it, const std::string& run_directory);
/// What this program is called in a shell: "sterna" where PATH leads to it, else its path.
std::string own_command();

/// Where the newest whole checkpoint was looked for and found: why newer ones are not whole, a line
/// each. One that was never finished is no news.
std::vector<std::string> passed_over(const ClusterFile& file, const actors::SavedCheckpoint& found);

/// Whether the checkpoint has all parameters of the file's net, as large as the net has them, for
/// the classes of the data, called the same and in the same order as far as both are named. Errors,
/// each in a line: invalid_argument where it is not so; those of reading it and the data.
Result<void> check_same_net(const actors::SavedCheckpoint& from, const ClusterFile& file,
                            const input::DataLocation& data);

/// What of the file, as it is resolved, teaches the net otherwise than the job did that made the
/// checkpoint: "job.batch 32 -> 64", by the keys of data, optimizer, gradients and scheme, and by
/// the number of ranks. None where the checkpoint does not say how it was made.
std::vector<std::string> changes_since(const actors::SavedCheckpoint& from,
                                       const ClusterFile& file);

}  // namespace sterna::launcher
