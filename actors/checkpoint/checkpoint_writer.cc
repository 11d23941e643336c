#include "actors/checkpoint/checkpoint_writer.h"

#include <memory>
#include <utility>

#include "actors/checkpoint/state_part.h"
#include "actors/job/messages.h"

namespace sterna::actors {

Task<Result<void>> CheckpointWriter::find(Peer<CheckpointKeeperInterface> keeper) {
  Task<Result<void>> finding = keeper_.emplace(std::move(keeper)).find();
  co_return co_await finding;
}

Task<Result<std::vector<std::size_t>>> CheckpointWriter::read(std::vector<StateTarget> targets,
                                                              Duration patience) {
  ByteWindow window(process_.poster(own_), process_.options().link.most_under_way());
  Task<Result<std::vector<std::size_t>>> reading =
      read_state(*keeper_, window, std::move(targets), patience);
  co_return co_await reading;
}

void CheckpointWriter::write(KeptVersion& kept, TakePart take) {
  if (!keeper_) return;
  for (const std::uint64_t version : kept.take_skipped()) {
    keeper_->tell(PartWritten{.version = version, .file = {}, .skipped = true});
  }
  if (std::optional<StatePart> part = take()) {
    process_.run_task(own_, write_part(std::move(*part), kept, std::move(take)));
  }
}

Task<void> CheckpointWriter::write_part(StatePart part, KeptVersion& kept, TakePart take) {
  const auto written = std::make_shared<PartWritten>();
  Task<Result<void>> writing =
      on_disk_([written, part = std::move(part), folder = folder_, own = process_.directory(),
                name = process_.options().link.identity.name]() -> Result<void> {
        *written = actors::write_part(part, folder, own, name);
        return {};
      });
  // What became of it is in `written`, an error included.
  static_cast<void>(co_await writing);
  // Where it has to be fetched, the next one waits for that: it takes this one's place.
  auto taking = keeper_->ask(std::move(*written), kWhileRanksCompute);
  const Result<void> taken = co_await taking;
  if (!taken) process_.log("the checkpoint: " + taken.error().message);
  kept.written();
  write(kept, std::move(take));
}

bool CheckpointWriter::may_name(ActorId sender) {
  if (sender.process == process_.id()) return true;
  if (!keeper_ || keeper_->process() == ProcessId{}) return false;
  if (sender.process == keeper_->process()) return true;
  process_.blame_sender("only the keeper of checkpoints names versions");
  return false;
}

Task<Result<CopyKept>> CheckpointWriter::copy(ActorId sender, KeepCopy what) {
  STERNA_CO_TRY(CopyHolder::may_ask(process_, sender, keeper_));
  auto keeping = copies_.keep(*keeper_, on_disk_, process_.directory(), std::move(what));
  co_return co_await keeping;
}

}  // namespace sterna::actors
