#include "actors/checkpoint/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "actors/checkpoint/checkpoint_folder.h"
#include "actors/checkpoint/state_part.h"
#include "runtime/actor/process.h"
#include "runtime/base/file.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

/// The first version that is named for a time is so many steps ahead; each that somebody is past
/// doubles that.
constexpr std::uint64_t kFirstAhead = 4;
constexpr std::uint64_t kMostAhead = 1U << 20;
/// Where somebody waits for it, and steps may take seconds.
constexpr std::uint64_t kSoonAhead = 2;
/// So many versions are tried then: the first may be due while another is still written.
constexpr int kSoonTries = 4;
/// As many bytes as of the words of a failure.
constexpr std::size_t kLongestError = 4096;
/// A server that comes again is told of a version which may be the job's last.
constexpr Duration kTellAgainAfter = std::chrono::seconds(1);

}  // namespace

CheckpointKeeper::CheckpointKeeper(KeeperSetup setup, Finder finder)
    : setup_(std::move(setup)), finder_(std::move(finder)), reached_(setup_.job.first_step) {
  writers_.insert(setup_.servers.begin(), setup_.servers.end());
  if (setup_.job.ranks_have_state()) {
    writers_.insert(setup_.workers.begin(), setup_.workers.end());
  }
}

CheckpointKeeper::~CheckpointKeeper() {
  setup_.record->keep_soon = nullptr;
  setup_.record->do_without = nullptr;
  setup_.record->measured = nullptr;
}

void CheckpointKeeper::started() {
  const Duration patience = setup_.job.deadlines.start;
  for (const std::string& name : setup_.servers) {
    servers_.emplace_back(*this, name, patience, finder_);
  }
  for (const std::string& name : setup_.workers) {
    if (setup_.job.ranks_have_state()) workers_.emplace_back(*this, name, patience, finder_);
  }
  if (setup_.job.checkpoint.every_seconds > 0) run(name_versions());
  if (!setup_.job.checkpoint.on()) return;
  setup_.record->keep_soon = [this] { run(keep_soon()); };
  setup_.record->do_without = [this](const std::string& writer) { do_without(writer); };
  setup_.record->measured = [this](std::uint64_t version, const MeasuredPrecision& precision) {
    measured(version, precision);
  };
}

/// Of the versions that others have told of, too.
void CheckpointKeeper::do_without(const std::string& writer) {
  if (writers_.erase(writer) == 0) return;
  std::vector<std::uint64_t> complete;
  for (auto& [version, pending] : pending_) {
    pending.heard.erase(writer);
    pending.parts.erase(writer);
    if (pending.heard.size() == writers_.size()) complete.push_back(version);
  }
  for (const std::uint64_t version : complete) run(commit_if_pending(version));
}

Task<void> CheckpointKeeper::commit_if_pending(std::uint64_t version) {
  // With a newer one those before are over.
  if (pending_.contains(version)) co_await commit(version);
}

std::string CheckpointKeeper::folder_of(std::uint64_t version) const {
  return (fs::path(setup_.folder) / checkpoint_name(version)).string();
}

// ---- naming versions ----

Task<Result<void>> CheckpointKeeper::find_writers() {
  for (auto& server : servers_) {
    if (server.process() == ProcessId{}) STERNA_CO_TRY(server.find());
  }
  for (auto& worker : workers_) {
    const bool known = worker.process() != ProcessId{} || !writers_.contains(worker.name());
    if (!known) STERNA_CO_TRY(worker.find());
  }
  co_return {};
}

Task<Result<void>> CheckpointKeeper::name_versions() {
  const Duration pause(static_cast<std::int64_t>(setup_.job.checkpoint.every_seconds * 1e9));
  while (true) {
    auto wait = sleep(pause);
    co_await wait;
    Task<Result<std::uint64_t>> naming = name_next(kFirstAhead);
    // Whom it lacks may be there the next time; else the run ends for want of them.
    if (const Result<std::uint64_t> named = co_await naming; !named) {
      log("no version is named to be kept: " + named.error().message);
    }
  }
}

/// Those who cannot be asked any more are no failure of the keeper's: then there is none.
Task<void> CheckpointKeeper::keep_soon() {
  for (int i = 0; i < kSoonTries; ++i) {
    Task<Result<std::uint64_t>> naming = name_next(kSoonAhead);
    const Result<std::uint64_t> version = co_await naming;
    if (!version || *version == 0) co_return;
    setup_.record->soon = *version;
    while (settled_ < *version) co_await settles_.wait();
    if (setup_.record->last >= *version) co_return;
  }
}

Task<Result<std::uint64_t>> CheckpointKeeper::name_next(std::uint64_t ahead) {
  STERNA_CO_TRY(find_writers());
  for (; ahead <= kMostAhead; ahead *= 2) {
    const std::uint64_t version = reached_ + ahead;
    if (version >= setup_.job.steps) co_return setup_.job.steps;  // the end is kept anyway
    STERNA_CO_ASSIGN(const bool named, name_version(version));
    if (named) co_return version;
  }
  co_return 0;
}

Task<Result<bool>> CheckpointKeeper::name_version(std::uint64_t version) {
  const Duration patience = setup_.job.deadlines.step;
  named_.insert(version);
  std::deque<Task<Result<KeepAnswer>>> answers;
  for (auto& server : servers_) answers.push_back(server.ask(KeepVersion{version}, patience));
  for (auto& worker : workers_) {
    if (!writers_.contains(worker.name())) continue;
    answers.push_back(worker.ask(KeepVersion{version}, patience));
  }
  bool all = true;
  std::size_t heard = 0;
  for (Task<Result<KeepAnswer>>& one : answers) {
    Result<KeepAnswer> answer = co_await one;
    // A worker that is away has not heard of it; and may not come again.
    const bool worker = ++heard > servers_.size();
    const bool away = worker && !answer && answer.error().code == Errc::actor_down;
    if (away) answer = KeepAnswer{.kept = false, .version = reached_};
    STERNA_CO_ASSIGN(const KeepAnswer there, std::move(answer));
    if (there.version > setup_.job.steps) {
      co_return Error{Errc::malformed,
                      fmt::format("one is at version {}, which the job has not", there.version)};
    }
    all = all && there.kept;
    reached_ = std::max(reached_, there.version);
  }
  co_return all;
}

/// Servers of which no step changes anything hear so that there is such a version. One that is away
/// may have a partner, without which the run would end: that is no failure of the keeper's.
void CheckpointKeeper::tell_all(std::uint64_t version) {
  for (auto& server : servers_) run(tell(server, version));
}

Task<void> CheckpointKeeper::tell(Peer<ParameterServerInterface>& server, std::uint64_t version) {
  for (bool first = true; version > decided_; first = false) {
    auto asking = server.ask(KeepVersion{version}, setup_.job.deadlines.step);
    const Result<KeepAnswer> answer = co_await asking;
    if (answer) co_return;
    if (first) {
      log(fmt::format("{} is not told yet to keep step {}: {}", server.name(), version,
                      answer.error().message));
    }
    co_await sleep(kTellAgainAfter);
  }
}

// ---- parts ----

Task<Result<void>> CheckpointKeeper::on(PartWritten part) {
  const PeerIdentity* peer = process().identity_of(sender().process);
  const std::string actor = peer != nullptr ? peer->name : "";
  if (!writers_.contains(actor)) {
    process().blame_sender("only those that have a job's state write parts of checkpoints");
    co_return {};
  }
  if (part.version <= setup_.job.first_step || part.version > setup_.job.steps) {
    process().blame_sender(
        fmt::format("a part of version {}, which the job has not", part.version));
    co_return {};
  }
  // Of each something is kept until all have told of it.
  if (!setup_.job.keeps(part.version) && !named_.contains(part.version)) {
    process().blame_sender(fmt::format("a part of version {}, which is not kept", part.version));
    co_return {};
  }
  part.error.resize(std::min(part.error.size(), kLongestError));
  // Which of the two it is may have changed since, with the actor's host.
  const bool its_own =
      part.file == part_file(actor) || part.file == own_part_file(part.version, actor);
  if (part.error.empty() && !part.skipped && !its_own) {
    process().blame_sender(fmt::format("a part called {:?}", part.file));
    co_return {};
  }
  // Not the asker's own: what was begun is not to end with it.
  const auto done = std::make_shared<bool>(false);
  run(taking(actor, std::move(part), done));
  while (!*done) co_await taken_.wait();
  co_return {};
}

Task<void> CheckpointKeeper::taking(std::string actor, PartWritten part,
                                    std::shared_ptr<bool> done) {
  Task<void> all = take(std::move(actor), std::move(part));
  co_await all;
  *done = true;
  taken_.notify_all();
}

Task<void> CheckpointKeeper::take(std::string actor, PartWritten part) {
  const std::uint64_t version = part.version;
  reached_ = std::max(reached_, version);
  if (version <= decided_) co_return;
  std::string wrong = part.error;
  if (part.skipped) wrong = actor + " was still writing the one before";
  const std::optional<ProcessId> node = setup_.node_of ? setup_.node_of(actor) : std::nullopt;
  if (wrong.empty() && node) {
    while (fetching_) co_await fetched_.wait();
    if (version <= decided_) co_return;
    const auto known = pending_.find(version);
    // Of one that was lost and wrote it again: the same bytes.
    if (known != pending_.end() && known->second.parts.contains(actor)) co_return;
    if (known == pending_.end() || known->second.wrong.empty()) {  // else nobody wants it
      fetching_ = true;
      Task<Result<void>> fetching = fetch(*node, actor, part);
      const Result<void> fetched = co_await fetching;
      fetching_ = false;
      fetched_.notify_all();
      if (!fetched) wrong = fetched.error().message;
    }
  }
  if (!setup_.job.init.train_only.empty() && !pending_.contains(version)) tell_all(version);
  if (version <= decided_ || !writers_.contains(actor)) co_return;  // by now
  Pending& pending = pending_[version];
  pending.heard.insert(actor);
  if (wrong.empty()) {
    pending.parts[actor] = {actor, part_file(actor), part.bytes, part.hash};
  } else if (pending.wrong.empty()) {
    pending.wrong = wrong;
    if (part.skipped) ++setup_.record->skipped;
    say_none(version, wrong);
  }
  if (pending.heard.size() == writers_.size()) co_await commit(version);
}

/// From the run's folder on its host into the checkpoint's.
Task<Result<void>> CheckpointKeeper::fetch(ProcessId node, std::string actor, PartWritten part) {
  const std::string folder = folder_of(part.version);
  STERNA_CO_TRY(on_disk([folder] { return make_directory(folder); }));
  const std::string path = (fs::path(folder) / part_file(actor)).string();
  for (std::uint64_t offset = 0; offset < part.bytes || offset == 0;) {
    STERNA_CO_ASSIGN(const FilePiece piece,
                     ask(agent_of<Coordinator>(kCoordinatorProcess),
                         ReadFile{node, part.file, offset}, kControlDeadline));
    if (piece.bytes.empty()) break;
    const std::uint64_t size = piece.bytes.size();
    auto appending = compute([path, bytes = piece.bytes, offset] {
      return append_to_part(path, bytes.view(), offset == 0);
    });
    STERNA_CO_TRY(std::move(appending));
    offset += size;
  }
  auto hashing = compute([path]() -> Result<Hash> {
    STERNA_TRY(sync_file(path));
    return hash_of_file(path);
  });
  STERNA_CO_ASSIGN(const Hash hash, std::move(hashing));
  if (hash != part.hash) {
    co_return Error{Errc::malformed, path + ": its bytes are not those that were written"};
  }
  co_return {};
}

SavedCheckpoint CheckpointKeeper::checkpoint_of(std::uint64_t version,
                                                const Pending& pending) const {
  const JobConfig& job = setup_.job;
  SavedCheckpoint saved;
  saved.folder = folder_of(version);
  saved.manifest = {.run = setup_.run,
                    .net = job.net,
                    .step = version,
                    .position = job.position_of(version),
                    .ranks = job.ranks,
                    .resolved = setup_.resolved,
                    .note = setup_.note,
                    .parts = {},
                    .precision = {}};
  for (const auto& [name, part] : pending.parts) saved.manifest.parts.push_back(part);
  const auto precision = precisions_.find(version);
  if (precision != precisions_.end()) saved.manifest.precision = precision->second;
  return saved;
}

void CheckpointKeeper::give_up_before(std::uint64_t version) {
  while (!pending_.empty() && pending_.begin()->first < version) {
    const auto& [lost, pending] = *pending_.begin();
    for (const std::string& writer : writers_) {
      if (!pending.wrong.empty() || pending.heard.contains(writer)) continue;
      ++setup_.record->skipped;
      say_none(lost, writer + " was lost, and its part with it");
      break;
    }
    pending_.erase(pending_.begin());
  }
}

Task<void> CheckpointKeeper::commit(std::uint64_t version) {
  const Pending pending = std::move(pending_.extract(version).mapped());
  // Each writes its parts in their order.
  decided_ = std::max(decided_, version);
  give_up_before(version);
  if (!pending.wrong.empty()) {
    Task<void> removing = remove(version);
    co_await removing;
    over(version);
    co_return;
  }
  const SavedCheckpoint saved = checkpoint_of(version, pending);
  Task<Result<void>> writing = on_disk([saved, folder = setup_.folder]() -> Result<void> {
    STERNA_TRY(check_parts(saved, false));
    STERNA_TRY(write_manifest(saved.folder, saved.manifest));
    return sync_folder(folder);  // or a power cut takes this one, and those that it replaces
  });
  const Result<void> written = co_await writing;
  if (!written) {
    Task<void> removing = remove(version);
    co_await removing;
    say_none(version, written.error().message);
    over(version);
    co_return;
  }
  made_.insert(version);
  ++setup_.record->made;
  setup_.record->last = std::max(setup_.record->last, version);
  setup_.committed(saved);
  const bool copies = setup_.job.checkpoint.copies > 0;
  if (copies) run(copy(saved));
  // It may have come while the manifest was written without it.
  const auto precision = precisions_.find(version);
  if (precision != precisions_.end() && !saved.manifest.precision) {
    run(note(version, precision->second));
  }
  Task<void> removing = remove_old();
  co_await removing;
  if (copies && version == setup_.job.steps) co_return;  // the end waits for it
  over(version);
}

void CheckpointKeeper::say_none(std::uint64_t version, const std::string& why) {
  setup_.record->said.push_back(fmt::format("no checkpoint of step {}: {}", version, why));
  setup_.say(setup_.record->said.back());
}

void CheckpointKeeper::over(std::uint64_t version) {
  if (version == setup_.job.steps) setup_.record->over = true;
  settled_ = std::max(settled_, version);
  settles_.notify_all();
}

// ---- going on ----

Task<Result<StateValues>> CheckpointKeeper::on(ReadState question) {
  if (setup_.state == nullptr) {
    co_return Error{Errc::unavailable, "this job does not go on from a checkpoint"};
  }
  auto reading = compute([state = setup_.state, question = std::move(question)] {
    return state->read(question.array, question.first, question.count);
  });
  STERNA_CO_ASSIGN(Bytes values, std::move(reading));
  co_return StateValues{std::move(values)};
}

}  // namespace sterna::actors
