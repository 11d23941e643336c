#include "actors/checkpoint/copy_holder.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "actors/checkpoint/checkpoint_folder.h"
#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/saved.h"
#include "actors/checkpoint/state_part.h"
#include "runtime/base/file.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

/// All parts are here: makes a checkpoint of them.
Result<void> finish(const SavedCheckpoint& copy, std::size_t keep) {
  for (const Manifest::Part& part : copy.manifest.parts) {
    STERNA_TRY(sync_file(fs::path(copy.folder) / part.file));
  }
  STERNA_TRY(check_parts(copy, true));
  const fs::path all = fs::path(copy.folder).parent_path();
  STERNA_TRY(write_atomically(all / kCopiedClusterFile, copy.manifest.resolved));
  STERNA_TRY(write_manifest(copy.folder, copy.manifest));
  STERNA_TRY(sync_folder(all));
  remove_old_checkpoints(all.string(), {.made = copy.manifest.step, .keep = keep});
  return {};
}

}  // namespace

/// Held by who writes it, and by what is under way on disk: the last of them removes what was not
/// finished, also where the asker waits no longer.
struct CopyHolder::Begun {
  SavedCheckpoint copy;
  bool over = false;  ///< it is whole, or was removed
  Begun() = default;
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;
  ~Begun() {
    if (!over && !copy.folder.empty()) remove_checkpoint(copy.folder);
  }
};

Result<void> CopyHolder::may_ask(Process& process, ActorId sender,
                                 const std::optional<Peer<CheckpointKeeperInterface>>& keeper) {
  if (!keeper || keeper->process() == ProcessId{}) {
    return Error{Errc::unavailable, "it is only starting"};
  }
  if (sender.process == keeper->process()) return {};
  process.blame_sender("only the keeper of checkpoints has them copied");
  return Error{Errc::permission, "only the keeper of checkpoints has them copied"};
}

Task<Result<CopyKept>> CopyHolder::keep(Peer<CheckpointKeeperInterface>& keeper,
                                        OnComputeThread on_disk, std::string own, KeepCopy what) {
  if (!begun_.expired()) {
    co_return Error{Errc::unavailable, "the copy before is still being written"};
  }
  const auto begun = std::make_shared<Begun>();
  begun_ = begun;
  Task<Result<CopyKept>> writing =
      write(begun, keeper, std::move(on_disk), std::move(own), std::move(what));
  Result<CopyKept> kept = co_await writing;
  begun_.reset();  // what was under way on disk may hold it a little longer
  co_return kept;
}

Task<Result<CopyKept>> CopyHolder::write(std::shared_ptr<Begun> begun,
                                         Peer<CheckpointKeeperInterface>& keeper,
                                         OnComputeThread on_disk, std::string own, KeepCopy what) {
  STERNA_CO_ASSIGN(Manifest manifest, parse_manifest(what.manifest));
  const std::string name = checkpoint_name(manifest.step);
  std::error_code failed;
  const fs::path folder = fs::absolute(fs::path(own) / kCopyFolder / name, failed);
  if (failed) co_return system_error(std::string(kCopyFolder), failed.value());
  begun->copy = {folder.string(), std::move(manifest)};
  const SavedCheckpoint* const copy = &begun->copy;
  Task<Result<void>> beginning = on_disk([begun] {
    remove_checkpoint(begun->copy.folder);
    return make_directory(begun->copy.folder);
  });
  Result<void> done = co_await beginning;
  for (std::size_t i = 0; done && i < copy->manifest.parts.size(); ++i) {
    const Manifest::Part& part = copy->manifest.parts[i];
    const std::string path = (fs::path(copy->folder) / part.file).string();
    std::uint64_t offset = 0;
    while (done && (offset < part.bytes || offset == 0)) {
      ReadPart question{.version = copy->manifest.step, .file = part.file, .offset = offset};
      Task<Result<PartPiece>> asking = keeper.ask(std::move(question), kControlDeadline);
      Result<PartPiece> piece = co_await asking;
      if (!piece) {
        done = piece.error();
        break;
      }
      const std::uint64_t size = piece->bytes.size();
      if (size > part.bytes - offset || (size == 0 && part.bytes > 0)) {
        done = Error{Errc::malformed,
                     fmt::format("{}: {} bytes at {} of {}", part.file, size, offset, part.bytes)};
        break;
      }
      Task<Result<void>> appending =
          on_disk([begun, path, bytes = std::move(piece->bytes), offset] {
            return append_to_part(path, bytes.view(), offset == 0);
          });
      done = co_await appending;
      offset += size;
      if (part.bytes == 0) break;
    }
  }
  Task<Result<void>> ending = on_disk([begun, done, keep = what.keep]() -> Result<void> {
    Result<void> finished = done ? finish(begun->copy, keep) : done;
    if (!finished) remove_checkpoint(begun->copy.folder);
    begun->over = true;
    return finished;
  });
  STERNA_CO_TRY(std::move(ending));
  co_return CopyKept{copy->folder};
}

}  // namespace sterna::actors
