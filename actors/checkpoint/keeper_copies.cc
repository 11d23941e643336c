// Copies of whole checkpoints on other machines, as the keeper has them made.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "actors/checkpoint/checkpoint_folder.h"
#include "actors/checkpoint/keeper.h"
#include "runtime/actor/process.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

/// Bytes in a second: a copy that takes longer, and as long as an actor's start, is given up.
constexpr std::int64_t kSlowestCopy = 1'000'000;

}  // namespace

Result<void> note_copy(const std::string& checkpoint, const std::string& at) {
  STERNA_ASSIGN(Manifest manifest, read_manifest(checkpoint));
  manifest.copy = at;
  STERNA_TRY(parse_manifest(to_json(manifest)).in("where its copy lies"));  // a peer has said it
  return write_manifest(checkpoint, manifest);
}

Task<void> CheckpointKeeper::copy(SavedCheckpoint saved) {
  const std::uint64_t version = saved.manifest.step;
  const bool last = version == setup_.job.steps;
  while (last && copying_) co_await copied_.wait();
  if (copying_) {
    say_no_copy(version, "the one before is still being copied");
    co_return;
  }
  copying_ = saved;
  Error why{Errc::unavailable, "no server and no worker is on another machine"};
  bool done = false;
  std::set<std::string> failed;  // hosts
  const std::vector<CopyPlace> places =
      setup_.copy_places ? setup_.copy_places() : std::vector<CopyPlace>();
  for (std::size_t i = 0; i < places.size() && !done; ++i) {
    const CopyPlace& place = places[i];
    if (failed.contains(place.host)) continue;
    copies_at_ = place.actor;
    Task<Result<CopyKept>> asking = copy_at(place, saved);
    const Result<CopyKept> kept = co_await asking;
    Result<void> noted = kept ? Result<void>() : kept.error();
    if (noted) {
      Task<Result<void>> noting =
          on_disk([folder = saved.folder, where = place.host + ":" + kept->folder] {
            return note_copy(folder, where);
          });
      noted = co_await noting;
    }
    done = noted.ok();
    if (done) break;
    // Where only the actor was lost, another one there may do.
    if (noted.error().code != Errc::actor_down) failed.insert(place.host);
    why = Error(noted.error()).in(fmt::format("{} on {}", place.actor, place.host));
  }
  copying_.reset();
  copies_at_.clear();
  copied_.notify_all();
  if (done) {
    setup_.record->copied = std::max(setup_.record->copied, version);
  } else {
    say_no_copy(version, why.message);
  }
  if (!last) co_return;
  Task<void> removing = remove_old();  // what was copied when the last one was there
  co_await removing;
  over(version);
}

Task<Result<CopyKept>> CheckpointKeeper::copy_at(CopyPlace place, SavedCheckpoint saved) {
  const Duration patience = setup_.job.deadlines.start;
  const auto bytes = static_cast<std::int64_t>(saved.bytes());
  const Duration deadline = patience + std::chrono::seconds(bytes / kSlowestCopy);
  KeepCopy question{to_json(saved.manifest), setup_.job.checkpoint.keep};
  if (place.is_server) {
    Peer<ParameterServerInterface> server(*this, place.actor, patience, finder_);
    STERNA_CO_TRY(server.find());
    Task<Result<CopyKept>> asking = server.ask(std::move(question), deadline);
    co_return co_await asking;
  }
  Peer<WorkerInterface> worker(*this, place.actor, patience, finder_);
  STERNA_CO_TRY(worker.find());
  Task<Result<CopyKept>> asking = worker.ask(std::move(question), deadline);
  co_return co_await asking;
}

Task<Result<PartPiece>> CheckpointKeeper::on(ReadPart question) {
  const PeerIdentity* peer = process().identity_of(sender().process);
  if (!copying_ || peer == nullptr || peer->name != copies_at_ ||
      question.version != copying_->manifest.step) {
    co_return Error{Errc::not_found,
                    fmt::format("no copy of step {} is made there now", question.version)};
  }
  const auto& parts = copying_->manifest.parts;
  if (std::ranges::find(parts, question.file, &Manifest::Part::file) == parts.end()) {
    process().blame_sender(fmt::format("a part called {:?}", question.file));
    co_return Error{Errc::invalid_argument, "the checkpoint has no such part"};
  }
  auto reading =
      compute([path = (fs::path(copying_->folder) / question.file).string(),
               offset = question.offset] { return read_of_part(path, offset, ReadPart::kMost); });
  STERNA_CO_ASSIGN(Bytes bytes, std::move(reading));
  co_return PartPiece{std::move(bytes)};
}

void CheckpointKeeper::say_no_copy(std::uint64_t version, const std::string& why) {
  ++setup_.record->copies_missed;
  if (setup_.say_no_copy) setup_.say_no_copy(fmt::format("no copy of step {}: {}", version, why));
}

}  // namespace sterna::actors
