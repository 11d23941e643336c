#include "actors/checkpoint/part_writer.h"

#include <cstdint>
#include <utility>

namespace sterna::actors {

PartWriter::PartWriter(Process& process, Peer<CheckpointKeeperInterface>& keeper,
                       std::string folder, KeptVersion& kept,
                       std::function<std::optional<StatePart>()> take, Means means)
    : process_(process),
      keeper_(keeper),
      folder_(std::move(folder)),
      kept_(kept),
      take_(std::move(take)),
      means_(std::move(means)) {}

void PartWriter::write_next() {
  for (const std::uint64_t version : kept_.take_skipped()) {
    keeper_.tell(PartWritten{.version = version, .file = {}, .skipped = true});
  }
  if (std::optional<StatePart> part = take_()) means_.run(write(std::move(*part)));
}

Task<void> PartWriter::write(StatePart part) {
  auto writing = means_.on_compute_thread([part = std::move(part), folder = folder_,
                                           own = process_.directory(),
                                           name = process_.options().link.identity.name] {
    return write_part(part, folder, own, name);
  });
  PartWritten written = co_await std::move(writing);
  // Where it has to be fetched, the next one waits for that: it takes this one's place.
  auto taking = keeper_.ask(std::move(written), kWhileRanksCompute);
  const Result<void> taken = co_await std::move(taking);
  if (!taken) process_.log("the checkpoint: " + taken.error().message);
  kept_.written();
  write_next();
}

}  // namespace sterna::actors
