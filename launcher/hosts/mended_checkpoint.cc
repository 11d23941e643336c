#include "launcher/hosts/mended_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/checkpoint/checkpoint_folder.h"
#include "actors/checkpoint/saved.h"
#include "launcher/text/shell_word.h"
#include "runtime/base/file.h"
#include "runtime/host/piped_process.h"
#include "runtime/remote/remote_placer.h"
#include "runtime/remote/remote_session.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

constexpr Duration kConnectsWithin = std::chrono::seconds(10);
/// Bytes in a second: what comes slower is given up.
constexpr std::int64_t kSlowest = 1'000'000;
constexpr std::size_t kWordsOfSsh = 4096;

/// A part as it comes.
struct Coming {
  std::string path;
  std::uint64_t most = 0;
  std::uint64_t bytes = 0;
  Result<void> written;
  std::string errors;
  std::optional<ProcessExit> exit;

  void heard(std::string_view piece) {
    if (!written) return;
    if (piece.size() > most - bytes) {
      written = Error{Errc::malformed, "it is longer than the part was"};
      return;
    }
    written = actors::append_to_part(path, std::as_bytes(std::span(piece)), bytes == 0);
    bytes += piece.size();
  }
};

/// `from` of that host to `to`.
Result<void> fetch(RealMachine& machine, const HostSection& host, const std::string& from,
                   const std::string& to, std::uint64_t most, const std::function<bool()>& stop) {
  Coming coming{.path = to, .most = most, .written = {}, .errors = {}, .exit = {}};
  STERNA_TRY(actors::append_to_part(to, {}, true));
  std::vector<std::string> command = ssh_command(host.ssh, kConnectsWithin);
  command.push_back("exec cat -- " + shell_word(from));
  PipedProcess::Events events;
  events.output = [&](std::string_view piece) { coming.heard(piece); };
  events.errors = [&](std::string_view piece) {
    coming.errors += piece.substr(0, kWordsOfSsh - std::min(kWordsOfSsh, coming.errors.size()));
  };
  events.exited = [&](const ProcessExit& exit) { coming.exit = exit; };
  STERNA_ASSIGN(const auto process,
                PipedProcess::start(machine.loop(), command, std::move(events)));
  const Duration takes =
      2 * kConnectsWithin + std::chrono::seconds(static_cast<std::int64_t>(most) / kSlowest);
  machine.loop().run_until([&] { return coming.exit || !coming.written || stop(); },
                           machine.loop().now() + takes);
  STERNA_TRY(coming.written);
  if (!coming.exit) return Error{Errc::deadline, host.name + ": it did not come in time"};
  if (coming.exit->clean()) return {};
  return Error{Errc::unavailable,
               explain_connection(host.name, {"ssh", host.ssh}, coming.errors, *coming.exit)};
}

Result<void> mend(RealMachine& machine, const HostSection& host, const std::string& copies,
                  const actors::SavedCheckpoint& saved, const actors::Manifest::Part& part,
                  const std::function<bool()>& stop) {
  const std::string path = (fs::path(saved.folder) / part.file).string();
  // As a checkpoint of that part alone, it is checked like any other.
  const actors::SavedCheckpoint coming{saved.folder + "/.copy", {}};
  STERNA_TRY(make_directory(coming.folder));
  const std::string beside = (fs::path(coming.folder) / part.file).string();
  Result<void> done = fetch(machine, host, copies + "/" + part.file, beside, part.bytes, stop);
  if (done) done = actors::check_part(coming, part, true);
  if (done) done = sync_file(beside);
  std::error_code ignored;
  // What stands there may be no file.
  if (done && !fs::is_regular_file(fs::symlink_status(path, ignored)))
    fs::remove_all(path, ignored);
  if (done) done = rename_into_place(beside, path);
  fs::remove_all(coming.folder, ignored);
  return done;
}

/// That have a manifest, the newest first; of a folder that is one itself, that.
std::vector<actors::SavedCheckpoint> newest_first(const std::string& folder,
                                                  const std::string& run) {
  if (Result<actors::Manifest> own = actors::read_manifest(folder)) {
    return {actors::SavedCheckpoint{folder, std::move(*own)}};
  }
  std::vector<actors::SavedCheckpoint> all;
  for (const actors::FoundCheckpoint& one : actors::find_checkpoints(folder, run)) {
    if (one.manifest) all.push_back({one.folder, *one.manifest});
  }
  std::ranges::reverse(all);
  return all;
}

/// Whether all of it is as it was written, by now.
bool mend_all(RealMachine& machine, const ClusterFile& file, const actors::SavedCheckpoint& saved,
              const std::function<void(const std::string& line)>& say,
              const std::function<bool()>& stop) {
  const std::string& copy = saved.manifest.copy;
  const std::size_t colon = copy.find(':');
  const auto host = std::ranges::find(file.hosts, copy.substr(0, colon), &HostSection::name);
  for (const actors::Manifest::Part& part : saved.manifest.parts) {
    const Result<void> whole = actors::check_part(saved, part, true);
    if (whole) continue;
    if (copy.empty()) return false;  // who goes on says so
    if (host == file.hosts.end() || host->ssh.empty()) {
      say(fmt::format("{}; its copy lies at {}: fetch it from there to go on from it",
                      whole.error().message, copy));
      return false;
    }
    const Result<void> mended = mend(machine, *host, copy.substr(colon + 1), saved, part, stop);
    say(mended
            ? fmt::format("{}; it is replaced by its copy on {}", whole.error().message, host->name)
            : fmt::format("{}; its copy at {} could not be had: {}", whole.error().message, copy,
                          mended.error().message));
    if (!mended) return false;
  }
  return true;
}

}  // namespace

void mend_newest(RealMachine& machine, const ClusterFile& file, const std::string& folder,
                 const std::string& run, const std::function<void(const std::string& line)>& say,
                 const std::function<bool()>& stop) {
  const std::vector<actors::SavedCheckpoint> all = newest_first(folder, run);
  const bool copied = std::ranges::any_of(
      all, [](const actors::SavedCheckpoint& one) { return !one.manifest.copy.empty(); });
  if (!copied) return;
  for (const actors::SavedCheckpoint& saved : all) {
    if (stop() || mend_all(machine, file, saved, say, stop)) return;
  }
}

}  // namespace sterna::launcher
