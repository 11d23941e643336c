// Chunks of a shard whose versions a worker of the same process makes on its devices
// (gradient.exchange). Their values come here only where somebody wants them.
#include <utility>

#include "actors/server/shard.h"

namespace sterna::actors {

Shard::Wanted Shard::begin(std::uint64_t version) {
  promised_.begin(version);
  return {.evaluated = promised_.promises(version), .kept = kept_.gathers(version)};
}

std::vector<std::shared_ptr<const Buffer>> Shard::first_averages() const {
  std::vector<std::shared_ptr<const Buffer>> averages;
  for (const Chunk& chunk : chunks_) averages.push_back(chunk.average);
  return averages;
}

void Shard::made(std::uint64_t version, Wanted wanted, Made made) {
  Chunk& chunk = chunks_[made.chunk];
  chunk.version = version;
  chunk.parameters = std::move(made.parameters);
  chunk.slots = std::move(made.slots);
  chunk.average = std::move(made.average);
  if (wanted.kept) kept_.add(version, pieces_of(made.chunk, chunk.slots, nullptr));
  if (wanted.evaluated) take_snapshot(made.chunk);
}

}  // namespace sterna::actors
