#include "launcher/commands/weights/follow_checkpoints.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/state_part.h"
#include "launcher/commands/record/directory_end.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

constexpr Duration kBetweenLooks = std::chrono::milliseconds(500);

bool has_manifest(const fs::path& checkpoint) {
  std::error_code ignored;
  return fs::exists(checkpoint / actors::kManifestFile, ignored);
}

/// The run's directory, of that or of the folder of checkpoints in it.
fs::path run_of(const fs::path& path) {
  std::error_code ignored;
  const fs::path within = fs::absolute(path / "", ignored).lexically_normal().parent_path();
  const bool in_run = within.filename() == actors::kCheckpointFolder;
  return in_run ? within.parent_path() : within;
}

/// Whoever starts a run again (--again) has done so by then.
bool is_old(const fs::path& file) {
  constexpr auto kBegunAgainWithin = std::chrono::seconds(90);
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(file, failed);
  return !failed && fs::file_time_type::clock::now() - written > kBegunAgainWithin;
}

/// How the run has ended; none where it goes on, or may yet.
std::optional<DirectoryEnd> end_of(const fs::path& run) {
  std::error_code ignored;
  const fs::path result = run / "result.json";
  const bool silent = !fs::exists(result, ignored);
  if (silent && !is_old(run / "metrics.jsonl")) return std::nullopt;
  const Result<DirectoryEnd> end = directory_end(run.string());
  if (!end || !end->is_over()) return std::nullopt;
  if (end->exit == kExitGoesOn && !is_old(result)) return std::nullopt;
  return *end;
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
  bool visited = false;
  bool waiting_said = false;
  while (true) {
    // What the run has made is there once it is over.
    const std::optional<DirectoryEnd> end = end_of(run_of(path));
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
      if (!*more || !console.is_read()) return {};
      visited = true;
    }
    if (end && !visited) {
      return Error{
          Errc::unavailable,
          fmt::format("{}: there is no checkpoint to evaluate, and the run {}", path, end->words)};
    }
    if (end) {
      console.say(fmt::format("{}: the run {}", path, end->words));
      return {};
    }
    if (seen == 0 && !waiting_said) {
      std::error_code ignored;
      console.say(path + ": waiting for its first checkpoint" +
                  (fs::exists(path, ignored) ? "" : "; there is no such folder yet"));
    }
    waiting_said = true;
    if (!console.is_read()) return {};
    loop.run_until([] { return false; }, loop.now() + kBetweenLooks);
  }
}

}  // namespace sterna::launcher
