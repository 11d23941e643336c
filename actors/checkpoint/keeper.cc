#include "actors/checkpoint/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

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

/// The manifest first: without it there is no checkpoint.
void remove(const std::string& checkpoint) {
  std::error_code ignored;
  fs::remove(fs::path(checkpoint) / kManifestFile, ignored);
  fs::remove_all(checkpoint, ignored);
}

/// Removes the checkpoints that are neither among the newest `keep` nor `best`, and what older
/// unfinished ones left.
void remove_old(const std::string& folder, std::size_t keep, bool best) {
  std::vector<FoundCheckpoint> found = find_checkpoints(folder);
  std::size_t whole = 0;
  const FoundCheckpoint* highest = nullptr;
  for (const FoundCheckpoint& one : found) {
    if (!one.manifest || !one.manifest->precision_at_1) continue;
    if (highest == nullptr || *one.manifest->precision_at_1 > *highest->manifest->precision_at_1) {
      highest = &one;
    }
  }
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    if (one->manifest) ++whole;
    // What is newer than the newest whole one may still be written.
    const bool stays = whole == 0 || (one->manifest && whole <= keep) || (best && &*one == highest);
    if (stays) continue;
    remove(one->folder);
  }
}

Result<void> append(const std::string& path, const Bytes& bytes, bool first) {
  std::ofstream file(path, std::ios::binary | (first ? std::ios::trunc : std::ios::app));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Error{Errc::io, "cannot write " + path};
  return {};
}

}  // namespace

Result<void> note_precision(const std::string& folder, std::uint64_t version,
                            double precision_at_1) {
  const std::string path = (fs::path(folder) / checkpoint_name(version)).string();
  Result<Manifest> manifest = read_manifest(path);
  if (!manifest) return {};
  manifest->precision_at_1 = precision_at_1;
  return write_manifest(path, *manifest);
}

CheckpointKeeper::CheckpointKeeper(KeeperSetup setup, Finder finder)
    : setup_(std::move(setup)), finder_(std::move(finder)), reached_(setup_.job.first_step) {
  writers_.insert(setup_.servers.begin(), setup_.servers.end());
  if (setup_.job.ranks_have_state()) {
    writers_.insert(setup_.workers.begin(), setup_.workers.end());
  }
}

CheckpointKeeper::~CheckpointKeeper() { setup_.record->keep_soon = nullptr; }

void CheckpointKeeper::started() {
  if (setup_.job.checkpoint.every_seconds > 0) run(name_versions());
  if (setup_.job.checkpoint.on()) setup_.record->keep_soon = [this] { run(keep_soon()); };
}

std::string CheckpointKeeper::folder_of(std::uint64_t version) const {
  return (fs::path(setup_.folder) / checkpoint_name(version)).string();
}

// ---- naming versions ----

Task<Result<void>> CheckpointKeeper::find_writers() {
  const Duration patience = setup_.job.deadlines.start;
  for (const std::string& name : setup_.servers) {
    servers_.emplace_back(*this, name, patience, finder_);
    STERNA_CO_TRY(servers_.back().find());
  }
  if (!setup_.job.ranks_have_state()) co_return {};
  for (const std::string& name : setup_.workers) {
    workers_.emplace_back(*this, name, patience, finder_);
    STERNA_CO_TRY(workers_.back().find());
  }
  co_return {};
}

Task<Result<void>> CheckpointKeeper::name_versions() {
  const Duration pause(static_cast<std::int64_t>(setup_.job.checkpoint.every_seconds * 1e9));
  while (true) {
    auto wait = sleep(pause);
    co_await wait;
    Task<Result<std::uint64_t>> naming = name_next(kFirstAhead);
    STERNA_CO_TRY(std::move(naming));
  }
}

/// Those who cannot be asked any more are no failure of the keeper's: then there is none.
Task<void> CheckpointKeeper::keep_soon() {
  for (int i = 0; i < kSoonTries; ++i) {
    Task<Result<std::uint64_t>> naming = name_next(kSoonAhead);
    const Result<std::uint64_t> version = co_await std::move(naming);
    if (!version || *version == 0) co_return;
    setup_.record->soon = *version;
    while (settled_ < *version) co_await settles_.wait();
    if (setup_.record->last >= *version) co_return;
  }
}

Task<Result<std::uint64_t>> CheckpointKeeper::name_next(std::uint64_t ahead) {
  if (servers_.empty()) STERNA_CO_TRY(find_writers());
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
  std::deque<Task<Result<KeepAnswer>>> answers;
  for (auto& server : servers_) answers.push_back(server.ask(KeepVersion{version}, patience));
  for (auto& worker : workers_) answers.push_back(worker.ask(KeepVersion{version}, patience));
  bool all = true;
  for (Task<Result<KeepAnswer>>& one : answers) {
    STERNA_CO_ASSIGN(const KeepAnswer answer, std::move(one));
    all = all && answer.kept;
    reached_ = std::max(reached_, answer.version);
  }
  co_return all;
}

/// Servers of which no step changes anything hear so that there is such a version.
Task<Result<void>> CheckpointKeeper::tell_all(std::uint64_t version) {
  if (servers_.empty()) STERNA_CO_TRY(find_writers());
  for (auto& server : servers_) {
    Task<Result<KeepAnswer>> answer = server.ask(KeepVersion{version}, setup_.job.deadlines.step);
    STERNA_CO_TRY(std::move(answer));
  }
  co_return {};
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
  if (part.error.empty() && !part.skipped &&
      (part.file.find('/') != std::string::npos || !part.file.ends_with(actor + ".safetensors"))) {
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
  co_await std::move(all);
  *done = true;
  taken_.notify_all();
}

Task<void> CheckpointKeeper::take(std::string actor, PartWritten part) {
  const std::uint64_t version = part.version;
  reached_ = std::max(reached_, version);
  if (version <= decided_) co_return;
  std::string wrong = part.error;
  if (part.skipped) wrong = actor + " was still writing the one before";
  const auto elsewhere = setup_.elsewhere.find(actor);
  if (wrong.empty() && elsewhere != setup_.elsewhere.end()) {
    while (fetching_) co_await fetched_.wait();
    if (version <= decided_) co_return;
    const auto known = pending_.find(version);
    // Of one that was lost and wrote it again: the same bytes.
    if (known != pending_.end() && known->second.parts.contains(actor)) co_return;
    if (known == pending_.end() || known->second.wrong.empty()) {  // else nobody wants it
      fetching_ = true;
      Task<Result<void>> fetching = fetch(elsewhere->second, part);
      const Result<void> fetched = co_await std::move(fetching);
      fetching_ = false;
      fetched_.notify_all();
      if (!fetched) wrong = fetched.error().message;
    }
  }
  if (!setup_.job.init.train_only.empty() && !pending_.contains(version)) run(tell_all(version));
  if (version <= decided_) co_return;  // by now
  Pending& pending = pending_[version];
  pending.heard.insert(actor);
  if (wrong.empty()) {
    pending.parts[actor] = {actor, actor + ".safetensors", part.bytes, part.hash};
  } else if (pending.wrong.empty()) {
    pending.wrong = wrong;
    if (part.skipped) ++setup_.record->skipped;
    say_none(version, wrong);
  }
  if (pending.heard.size() == writers_.size()) co_await commit(version);
}

/// From the run's folder on its host into the checkpoint's.
Task<Result<void>> CheckpointKeeper::fetch(ProcessId node, PartWritten part) {
  const std::string folder = folder_of(part.version);
  STERNA_CO_TRY(make_directory(folder));
  const std::string plain = part.file.substr(checkpoint_name(part.version).size() + 1);
  const std::string path = (fs::path(folder) / plain).string();
  for (std::uint64_t offset = 0; offset < part.bytes || offset == 0;) {
    STERNA_CO_ASSIGN(const FilePiece piece,
                     ask(agent_of<Coordinator>(kCoordinatorProcess),
                         ReadFile{node, part.file, offset}, kControlDeadline));
    if (piece.bytes.empty()) break;
    STERNA_CO_TRY(append(path, piece.bytes, offset == 0));
    offset += piece.bytes.size();
  }
  auto hashing = compute([path] { return hash_of_file(path); });
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
  saved.manifest = {.net = job.net,
                    .step = version,
                    .position = job.position_of(version),
                    .ranks = job.ranks,
                    .resolved = setup_.resolved,
                    .note = setup_.note,
                    .parts = {},
                    .precision_at_1 = {}};
  for (const auto& [name, part] : pending.parts) saved.manifest.parts.push_back(part);
  const auto precision = setup_.record->precisions.find(version);
  if (precision != setup_.record->precisions.end())
    saved.manifest.precision_at_1 = precision->second;
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
    remove(folder_of(version));
    over(version);
    co_return;
  }
  const SavedCheckpoint saved = checkpoint_of(version, pending);
  const CheckpointSection& how = setup_.job.checkpoint;
  auto writing = compute([saved, folder = setup_.folder, keep = how.keep, best = how.best] {
    Result<void> written = check_parts(saved, false);
    if (written) written = write_manifest(saved.folder, saved.manifest);
    if (written) remove_old(folder, keep, best);
    return written;
  });
  const Result<void> written = co_await std::move(writing);
  if (written) {
    ++setup_.record->made;
    setup_.record->last = std::max(setup_.record->last, version);
    setup_.committed(saved);
  } else {
    remove(saved.folder);
    say_none(version, written.error().message);
  }
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
