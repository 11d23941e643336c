#include "launcher/commands/weights/follow_checkpoints.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/state_part.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

constexpr Duration kBetweenLooks = std::chrono::milliseconds(500);

bool has_manifest(const fs::path& checkpoint) {
  std::error_code ignored;
  return fs::exists(checkpoint / actors::kManifestFile, ignored);
}

Result<void> check(const fs::path& path) {
  std::error_code ignored;
  const bool one = actors::parse_checkpoint_name(path.filename().string()) || has_manifest(path);
  if (!one && (!fs::exists(path, ignored) || fs::is_directory(path, ignored))) return {};
  return Error{Errc::invalid_argument,
               path.string() +
                   ": to follow a run takes its directory, or the folder of its "
                   "checkpoints"};
}

}  // namespace

Result<void> follow_checkpoints(
    const std::string& path, Loop& loop, const Console& console,
    const std::function<Result<bool>(const actors::SavedCheckpoint&)>& visit) {
  STERNA_TRY(check(path));
  std::uint64_t seen = 0;  // a checkpoint is of a step after the first
  bool waiting_said = false;
  while (true) {
    for (const actors::FoundCheckpoint& found :
         actors::find_checkpoints(actors::checkpoints_in(path))) {
      if (found.step <= seen || !has_manifest(found.folder)) continue;
      const Result<actors::SavedCheckpoint> whole = actors::open_checkpoint(found.folder);
      if (!whole && !has_manifest(found.folder)) continue;
      seen = found.step;
      if (!whole) {
        console.say(whole.error().message);
        continue;
      }
      const Result<bool> more = visit(*whole);
      if (!more && !has_manifest(found.folder)) continue;
      STERNA_TRY(more);
      if (!*more) return {};
    }
    if (seen == 0 && !waiting_said) console.say(path + ": waiting for its first checkpoint");
    waiting_said = true;
    loop.run_until([] { return false; }, loop.now() + kBetweenLooks);
  }
}

}  // namespace sterna::launcher
